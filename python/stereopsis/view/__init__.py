"""The live viewer: a page in the browser, and the server that matches for it. `stereopsis view SOURCE …`

sources     where pairs come from: files, scenes, and in capture.py videos and cameras
settings    what is done to them, and how messages of a page change it
preparation swapping, rectifying and scaling a pair
engine      the thread that reads, matches and publishes
probe       what is known of a pixel
keep        what is saved
server      HTTP and WebSocket, of one address with a token
page/       HTML, CSS and JavaScript modules, served as they are
"""
