// Colour maps as 256 × RGB, from polynomials and stops.
function polynomial(coefficients, t) {
  return coefficients.map((c) => c.reduceRight((sum, k) => sum * t + k, 0));
}

// Approximations of Turbo (Mikhailov 2019) and of Viridis and Magma (Smith, van der Walt 2015), degree 5 and 6.
const turbo = [
  [0.1357, 4.5974, -42.3277, 130.5887, -150.5666, 58.1375],
  [0.0914, 2.1856, 4.8052, -14.0195, 4.2109, 2.7747],
  [0.1067, 12.5925, -60.1097, 109.0745, -88.5066, 26.8183],
];
const viridis = [
  [0.2777, 0.1051, -0.3309, -4.6342, 6.2283, 4.7764, -5.4355],
  [0.0054, 1.4046, 0.2148, -5.7991, 14.1799, -13.7451, 4.6459],
  [0.3341, 1.3846, 0.0951, -19.3324, 56.6906, -65.353, 26.3124],
];
const magma = [
  [-0.0021, 0.2517, 8.3537, -27.6687, 52.1761, -50.7685, 18.6557],
  [-0.0007, 0.6775, -3.5777, 14.2647, -27.9436, 29.0466, -11.4898],
  [-0.0054, 2.494, 0.3145, -13.6492, 12.9442, 4.2342, -5.602],
];

const maps = {
  turbo: (t) => polynomial(turbo, t),
  viridis: (t) => polynomial(viridis, t),
  magma: (t) => polynomial(magma, t),
  grey: (t) => [t, t, t],
  // Colours of differences: blue below, grey at none, red above.
  difference: (t) => between([[0.16, 0.4, 0.75], [0.62, 0.65, 0.67], [0.8, 0.27, 0.2]], t),
  // Colours of errors: calm without an error, then warmer.
  error: (t) => between([[0.11, 0.24, 0.25], [0.26, 0.55, 0.5], [0.95, 0.77, 0.36], [0.86, 0.3, 0.2]], t),
};

export const choices = ["turbo", "viridis", "magma", "grey"];

function between(stops, t) {
  const at = Math.min(t * (stops.length - 1), stops.length - 1.000001);
  const i = Math.floor(at);
  return stops[i].map((c, k) => c + (stops[i + 1][k] - c) * (at - i));
}

export function colours(name) {
  const bytes = new Uint8Array(256 * 3);
  for (let i = 0; i < 256; ++i)
    maps[name](i / 255).forEach((c, k) => (bytes[3 * i + k] = Math.round(255 * Math.min(1, Math.max(0, c)))));
  return bytes;
}
