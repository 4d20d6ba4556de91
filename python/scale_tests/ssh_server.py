"""A host to be reached by SSH, on this machine: python ssh_server.py FOLDER PORT. FOLDER is the home of who logs in."""

import asyncio
import pathlib
import sys

import asyncssh


async def run(process):
    child = await asyncio.create_subprocess_shell(process.command, stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE)

    async def forward(source, to):
        while data := await source.read(65536):
            to.write(data)

    await asyncio.gather(forward(child.stdout, process.stdout), forward(child.stderr, process.stderr))  # all of it before the end
    process.exit(await child.wait())


async def serve(home, port):
    ssh = home / ".ssh"
    ssh.mkdir(mode=0o700)
    host, user = asyncssh.generate_private_key("ssh-ed25519"), asyncssh.generate_private_key("ssh-ed25519")
    user.write_private_key(ssh / "id_ed25519")
    user.write_public_key(home / "authorized")
    public = host.export_public_key().decode().strip()
    (ssh / "known_hosts").write_text(f"[127.0.0.1]:{port} {public}\n")
    (ssh / "config").write_text(f"Host 127.0.0.1\n  Port {port}\n  IdentityFile {ssh}/id_ed25519\n  UserKnownHostsFile {ssh}/known_hosts\n")
    server = await asyncssh.listen("127.0.0.1", port, server_host_keys=[host], authorized_client_keys=str(home / "authorized"), process_factory=run, encoding=None)
    print("ready", flush=True)
    await server.wait_closed()


asyncio.run(serve(pathlib.Path(sys.argv[1]), int(sys.argv[2])))
