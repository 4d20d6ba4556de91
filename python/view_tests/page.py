"""The page as a person has it: what it shows is waited for, and read."""

import base64
import json
import time

import numpy as np
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.actions.wheel_input import ScrollOrigin
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.select import Select

PATIENCE = 40  # seconds, on a machine that does other things
TEXT_OF_BYTES = "for (let i = 0; i < b.length; i += 4096) t += String.fromCharCode(...b.subarray(i, i + 4096));"


class Page:
    def __init__(self, driver, address, process):
        self.driver, self.address, self.process = driver, address, process
        self.leave()
        driver.get(address)  # whose port is new: nothing is kept of another page
        self.wait_for(lambda: self.script("return Boolean(globalThis.viewer?.frame)"), "a picture")

    def leave(self):
        """Closes the page that is open, which asks for an ended viewer every second, and drops what was logged of it."""
        self.driver.get("about:blank")
        for log in self.driver.log_types:
            self.driver.get_log(log)

    def script(self, text, *arguments):
        return self.driver.execute_script(text, *arguments)

    def wait_for(self, found, what):
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            if found():
                return
            time.sleep(0.05)
        raise AssertionError(f"{what} did not come; the page says: {self.notice()}")

    def settle(self):
        """Waits until the drawn picture has the settings in effect."""
        time.sleep(0.15)
        settled = "return viewer.frame.revision === viewer.state.revision && document.body.dataset.shown == viewer.state.revision"
        self.wait_for(lambda: self.script(settled), "a picture with the newest settings")

    def resize(self, width, height):
        """Sets the size of the browser's window, and waits until the page is laid out in it."""
        frame = self.script("return [outerWidth - innerWidth, outerHeight - innerHeight]")
        self.driver.set_window_size(width, height)
        inner = [width - frame[0], height - frame[1]]
        self.wait_for(lambda: self.script("return [innerWidth, innerHeight]") == inner, f"a page of {inner[0]}x{inner[1]} pixels")

    def find(self, css):
        return self.driver.find_element(By.CSS_SELECTOR, css)

    def click(self, css):
        self.find(css).click()

    def choose(self, css, value):
        Select(self.find(css)).select_by_value(value)

    def enter(self, css, value):
        field = self.find(css)
        field.send_keys(Keys.CONTROL, "a")
        field.send_keys(str(value), Keys.ENTER)

    def press(self, key):
        ActionChains(self.driver).send_keys(key).perform()

    def notice(self):
        return self.script("const n = document.getElementById('notice'); return n.hidden ? '' : n.textContent")

    def plane(self, name):
        """Returns a plane of the page's frame as an array."""
        width, height, values = self.script(
            "const p = viewer.planes[arguments[0]]; const b = new Uint8Array(p.data.buffer, p.data.byteOffset, p.data.byteLength);"
            f"let t = ''; {TEXT_OF_BYTES} return [p.width, p.height, btoa(t)]",
            name,
        )
        kind = np.uint8 if name in ("left", "right", "validity") else np.float32
        array = np.frombuffer(base64.b64decode(values), kind).reshape(height, width, -1)
        return array[..., 0] if array.shape[2] == 1 else array

    def drag(self, pane, start, end, shift=False):
        """Drags the pointer from `start` to `end`, which are pixels of the picture."""
        body = self.driver.find_elements(By.CSS_SELECTOR, ".pane-body")[pane]
        (x0, y0), (x1, y1) = self.offset(body, *start), self.offset(body, *end)
        chain = ActionChains(self.driver)
        if shift:
            chain.key_down(Keys.SHIFT)
        chain.move_to_element_with_offset(body, x0, y0).click_and_hold()
        chain.move_to_element_with_offset(body, (x0 + x1) / 2, (y0 + y1) / 2)
        chain.move_to_element_with_offset(body, x1, y1).release()
        if shift:
            chain.key_up(Keys.SHIFT)
        chain.perform()

    def point(self, pane, x, y, click=False):
        body = self.driver.find_elements(By.CSS_SELECTOR, ".pane-body")[pane]
        chain = ActionChains(self.driver).move_to_element_with_offset(body, *self.offset(body, x + 0.5, y + 0.5))
        (chain.click() if click else chain).perform()

    def scroll(self, body, down):
        ActionChains(self.driver).scroll_from_origin(ScrollOrigin.from_element(body), 0, down).perform()

    def offset(self, body, x, y):
        """Returns the offset of a pixel from the middle of the pane."""
        width, height = self.script("return viewer.frame.size")
        scale = min(body.size["width"] / width, body.size["height"] / height)
        return round((x - width / 2) * scale), round((y - height / 2) * scale)

    def colours(self, pane):
        """Returns the colours drawn in the pane, at the picture's own size."""
        view = self.script("return viewer.views()[arguments[0]]", pane)
        width, height, values = self.script(
            "const c = viewer.renderer.picture_of(arguments[0]); viewer.changed('look');"
            "const b = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;"
            f"let t = ''; {TEXT_OF_BYTES} return [c.width, c.height, btoa(t)]",
            view,
        )
        return np.frombuffer(base64.b64decode(values), np.uint8).reshape(height, width, 4)[..., :3].astype(int)

    def downloaded(self, name):
        file = self.driver.downloads / name
        self.wait_for(lambda: file.exists() and file.stat().st_size > 0, name)
        content = file.read_bytes()
        file.unlink()
        return content

    def requests(self):
        """Returns all addresses that the browser asked for since the last call."""
        found = []
        for entry in self.driver.get_log("performance"):
            message = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                found.append(message["params"]["request"]["url"])
            if message["method"] == "Network.webSocketCreated":
                found.append(message["params"]["url"])
        return found

    def complaints(self):
        """Returns the errors in the browser's console."""
        return [entry["message"] for entry in self.driver.get_log("browser") if entry["level"] == "SEVERE"]
