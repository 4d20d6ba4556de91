"""python3 -m unittest discover training"""

import os
import pathlib
import tempfile
import unittest

import numpy as np
import torch

import confidence
import emulation
import maps
import network
import scenes
import sgm
import stereopsis as st
import weights

COMMAND = os.environ.get("STEREOPSIS_COMMAND", pathlib.Path(__file__).parents[1] / "build/release/bin/stereopsis")


class Sgm(unittest.TestCase):
    def path_by_hand(self, costs, guide, penalties):
        """Computes the path costs along x from the definition."""
        out = costs.copy()
        width, disparities = costs.shape
        for x in range(1, width):
            difference = abs(int(guide[x]) - int(guide[x - 1]))
            p2 = penalties.p2 if difference == 0 else penalties.p2 * penalties.gradient // difference
            p2 = max(penalties.p2_min, min(penalties.p2, p2))
            least = out[x - 1].min()
            for d in range(disparities):
                options = [out[x - 1, d], least + p2]
                options += [out[x - 1, e] + penalties.p1 for e in (d - 1, d + 1) if 0 <= e < disparities]
                out[x, d] = costs[x, d] + min(options) - least
        return out

    def test_reference_is_the_definition(self):
        random = np.random.default_rng(1)
        costs = random.integers(0, 128, (1, 3, 9, 7)).astype(np.float64)
        guide = random.integers(0, 60, (1, 3, 9)).astype(np.uint8)
        p = sgm.Penalties()
        expected = np.zeros_like(costs)
        for y in range(3):
            expected[0, y] += self.path_by_hand(costs[0, y], guide[0, y], p)
            expected[0, y] += self.path_by_hand(costs[0, y, ::-1], guide[0, y, ::-1], p)[::-1]
        for x in range(9):
            expected[0, :, x] += self.path_by_hand(costs[0, :, x], guide[0, :, x], p)
            expected[0, :, x] += self.path_by_hand(costs[0, ::-1, x], guide[0, ::-1, x], p)[::-1]
        got = sgm.reference(torch.from_numpy(costs), torch.from_numpy(guide), p)
        np.testing.assert_array_equal(got.numpy(), expected)

    def test_gradient_is_that_of_differences(self):
        costs = (torch.rand(1, 4, 5, 6, dtype=torch.float64) * 90).requires_grad_()
        guide = torch.randint(0, 60, (1, 4, 5), dtype=torch.uint8)
        self.assertTrue(torch.autograd.gradcheck(lambda c: sgm.reference(c, guide), [costs]))

    @unittest.skipUnless(torch.cuda.is_available(), "needs a GPU: the kernels are CUDA")
    def test_kernels_equal_the_reference(self):
        for shape in ((1, 1, 1, 1), (2, 5, 9, 7), (1, 8, 33, 64), (2, 17, 40, 96), (1, 6, 7, 97), (1, 5, 6, 200)):
            costs = torch.randint(0, 128, shape).float()  # integers: sums are exact, and ties happen
            guide = torch.randint(0, 60, shape[:3], dtype=torch.uint8)
            pull = torch.randint(-8, 9, shape).float()
            results = []
            for device in ("cpu", "cuda"):
                c = costs.detach().to(device).requires_grad_()
                s = sgm.sums(c, guide.to(device))
                s.backward(pull.to(device))
                results.append((s.detach().cpu(), c.grad.cpu()))
            torch.testing.assert_close(results[0][0], results[1][0], rtol=0, atol=0)
            torch.testing.assert_close(results[0][1], results[1][1], rtol=0, atol=0)


class Network(unittest.TestCase):
    def features(self, channels=16):
        torch.manual_seed(3)
        features = network.Features(channels)
        with torch.no_grad():
            for b in features.biases:
                b.normal_()
        return features

    def test_emulation_in_integers_equals_training(self):
        features = self.features()
        grey = np.random.default_rng(2).integers(0, 256, (21, 30)).astype(np.uint8)
        trained, _ = features(torch.from_numpy(grey)[None, None].float())
        exact = emulation.integer_features(features.export(), grey)
        np.testing.assert_array_equal(trained[0].detach().numpy(), exact)
        self.assertGreater(np.unique(exact).size, 50)

    def test_emulation_is_the_oracle_of_the_stage(self):
        """The same network and image as in src/stages/learned_features/learned_features_test.cpp."""
        state = 1

        def draw(count, modulus, offset):
            nonlocal state
            values = []
            for _ in range(count):
                state = (state * 1664525 + 1013904223) % 2**32
                values.append((state >> 16) % modulus + offset)
            return np.array(values)

        layers = []
        for channels_in, channels_out, shift, low in ((1, 6, 6, 0), (6, 5, 9, 0), (5, 8, 9, -127)):
            weight = draw(9 * channels_in * channels_out, 255, -127).reshape(channels_out, channels_in, 3, 3)
            biases = draw(channels_out, 8000, -2000)
            layers.append(emulation.IntegerLayer(weight.astype(np.int8), biases.astype(np.int32), shift, low))
        grey = draw(77, 256, 0).reshape(7, 11).astype(np.uint8)
        features = emulation.integer_features(layers, grey)
        self.assertEqual(weights.fnv1a(features.transpose(1, 2, 0).tobytes()), 0x4DB478A45F054750)

    def test_a_change_of_brightness_changes_nothing(self):
        layers = self.features().export()
        np.testing.assert_array_equal(layers[0].weights.sum((1, 2, 3)), 0)
        grey = np.random.default_rng(2).integers(0, 200, (12, 15)).astype(np.uint8)
        dark, light = (emulation.integer_features(layers, image) for image in (grey, grey + 50))
        np.testing.assert_array_equal(dark, light)

    def test_integer_costs_equal_those_of_training(self):
        random = np.random.default_rng(4)
        left, right = (random.integers(-127, 128, (32, 5, 20)).astype(np.int8) for _ in range(2))
        exact = emulation.integer_costs(left, right, 7)
        trained = network.learned_costs(*(torch.from_numpy(f)[None].float() for f in (left, right)), 7)
        self.assertLessEqual((trained[0] - torch.from_numpy(exact)).abs().max().item(), 0.5)

    def test_census_and_gradient_are_those_of_the_stage(self):
        grey = np.random.default_rng(5).integers(0, 256, (2, 6, 11))
        costs = network.census_gradient_costs(*(torch.from_numpy(g)[None, None].float() for g in grey), 4)
        at = lambda image, x, y: image[min(max(y, 0), 5), min(max(x, 0), 10)]
        window = [(i, j) for i in range(-2, 3) for j in range(-2, 3)]
        for y in range(6):
            for x in range(11):
                for d in range(4):
                    xr = max(x - d, 0)
                    darker = lambda g, u: [at(g, u + i, y + j) < at(g, u, y) for i, j in window]
                    hamming = sum(a != b for a, b in zip(darker(grey[0], x), darker(grey[1], xr)))
                    gradient = lambda g, u: min(max(128 + at(g, u + 1, y) - at(g, u - 1, y), 0), 255)
                    expected = 2 * hamming + min(abs(gradient(grey[0], x) - gradient(grey[1], xr)), 10)
                    self.assertEqual(costs[0, y, x, d].item(), expected)


class Weights(unittest.TestCase):
    def test_a_file_is_read_as_it_was_written(self):
        layers = network.Features(16).export()
        for a, b in zip(layers, weights.from_bytes(weights.to_bytes(layers))):
            np.testing.assert_array_equal(a.weights, b.weights)
            np.testing.assert_array_equal(a.biases, b.biases)
            self.assertEqual((a.shift, a.low), (b.shift, b.low))

    def test_damage_is_noticed(self):
        data = weights.to_bytes(network.Features(16).export())
        for at in (0, 9, 30, 1000, len(data) - 1):
            damaged = bytearray(data)
            damaged[at] ^= 1
            with self.assertRaises(ValueError):
                weights.from_bytes(bytes(damaged))
        with self.assertRaises(ValueError):
            weights.from_bytes(data[:-5])



class Confidence(unittest.TestCase):
    def setUp(self):
        self.data = (pathlib.Path(__file__).parent / "weights/confidence.weights").read_bytes()
        self.network, self.probabilities = confidence.from_bytes(self.data)

    def test_a_file_is_written_as_it_was_read(self):
        self.assertEqual(confidence.to_bytes(self.network, self.probabilities), self.data)

    def test_network_is_what_the_library_computes(self):
        scene = st.synth(width=150, height=101, disparities=24)
        found = st.match(scene.left, scene.right, 24, device="cpu", want=["confidence"])
        grey = [scenes.grey8(torch.from_numpy(view))[None] for view in (scene.left, scene.right)]
        disparity, validity = (torch.from_numpy(np.array(m))[None] for m in (found.disparity, found.validity))
        with torch.no_grad():
            logits = self.network(confidence.evidence(*grey, disparity, validity))[0].numpy().astype(int)
        probability = self.probabilities[logits + confidence.MOST_LOGIT]
        np.testing.assert_array_equal(found.confidence, np.where(np.isfinite(found.disparity), probability, 0))

    def test_maps_that_are_trained_on_are_written_and_read(self):
        with tempfile.TemporaryDirectory() as folder:
            shard = pathlib.Path(folder) / "1-00000"
            shard.mkdir()
            scene = st.synth(width=confidence.SIZE[0], height=confidence.SIZE[1], disparities=24)
            visible = np.full(scene.left.shape[:2], 255, np.uint8)
            for name, array in (
                ("left", scene.left), ("right", scene.right), ("disp_left", scene.disparity), ("mask_nonocc", visible),
            ):  # fmt: skip
                np.save(shard / f"{name}.npy", array)
            (shard / "scenes.json").write_text('{"scenes": [{"ndisp": 24}]}')
            confidence.make_shard(confidence.Work(folder, seed=1, count=1, command=COMMAND), 0)
            data = confidence.Data([shard], "cpu", most=0)
        self.assertGreater(len(data), 0)
        self.assertLess(float(data.wrong.max()), confidence.MOST_WRONG)
        network = confidence.Network()
        logits = network(data.evidence[:2])
        confidence.functional.binary_cross_entropy_with_logits(logits / confidence.UNIT, data.good[:2].float()).backward()
        self.assertTrue(all(torch.isfinite(p.grad).all() for p in network.parameters()))

    def test_every_method_gives_maps_to_train_on(self):
        scene = st.synth(width=120, height=90, disparities=24)
        made = list(maps.of_scenes(COMMAND, confidence.METHODS, [scene.left] * 2, [scene.right] * 2, 24))
        self.assertEqual(len(made), 2 * len(confidence.METHODS))
        for method, (complete, winners) in zip(confidence.METHODS, zip(made[::2], made[1::2])):
            own = st.match(scene.left, scene.right, 24, method=method, device="cpu", align_rows="off")
            for disparity, validity in zip(*complete):
                np.testing.assert_array_equal(disparity, own.disparity)
                np.testing.assert_array_equal(validity, own.validity)
            self.assertEqual(winners[0].shape, (2, 90, 120))
            self.assertGreater((np.abs(winners[0][0] - scene.disparity) <= 1).mean(), 0.5, method)

    def test_table_is_monotone(self):
        logits = torch.tensor([-127, -127, 0, 0, 5, 5, 127])
        good = torch.tensor([0, 0, 1, 1, 0, 1, 1])
        table = confidence.table(logits, good)
        self.assertTrue((np.diff(table) >= 0).all())
        np.testing.assert_allclose(table[[0, 127, 132, 254]], [0, 0.75, 0.75, 1], atol=1e-4)


if __name__ == "__main__":
    unittest.main()
