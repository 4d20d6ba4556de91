"""The live viewer: a page in the browser, and the server that matches for it. `stereopsis view SOURCE …`

sources     origins of pairs: files and scenes; capture.py has videos and cameras
settings    settings of the viewer, and the messages of a page that change them
preparation swapping, rectifying and scaling a pair
engine      the thread that reads, matches and publishes
probe       costs of all candidates of a pixel
keep        files that a page saves
server      HTTP and WebSocket at one address with a token
page/       HTML, CSS and JavaScript modules, served without a build step
"""
