"""The files of a release for pip, npm and container runtimes. Each function returns bytes; the same input, the same bytes."""

import base64
import gzip
import hashlib
import io
import json
import re
import shlex
import tarfile
import time
import tomllib
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent

# What pip calls the systems that a program runs on. Where it needs glibc, that depends on the program.
WHEELS = {
    "x86_64-unknown-linux-musl": "manylinux_2_17_x86_64.musllinux_1_1_x86_64",
    "aarch64-unknown-linux-musl": "manylinux_2_17_aarch64.musllinux_1_1_aarch64",
    "x86_64-unknown-linux-gnu": "manylinux_2_GLIBC_x86_64",
    "aarch64-unknown-linux-gnu": "manylinux_2_GLIBC_aarch64",
    "x86_64-apple-darwin": "macosx_10_12_x86_64",
    "aarch64-apple-darwin": "macosx_11_0_arm64",
    "x86_64-pc-windows-gnu": "win_amd64",
    "x86_64-pc-windows-msvc": "win_amd64",
}
# What npm calls a system, and what npm and container runtimes call a processor.
SYSTEMS = {"linux": "linux", "darwin": "darwin", "windows": "win32"}
PROCESSORS = {"x86_64": ("x64", "amd64"), "aarch64": ("arm64", "arm64")}


def tar(files, date, owners={}):
    """A tar of (name, content, mode), where a name that ends in a slash is a folder."""
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w", format=tarfile.GNU_FORMAT) as archive:
        for name, content, mode in files:
            entry = tarfile.TarInfo(name.rstrip("/"))
            entry.size, entry.mode, entry.mtime = len(content), mode, date
            entry.type = tarfile.DIRTYPE if name.endswith("/") else tarfile.REGTYPE
            entry.uid = entry.gid = owners.get(name, 0)
            archive.addfile(entry, io.BytesIO(content))
    return raw.getvalue()


def zipped_tar(files, date):
    return gzip.compress(tar(files, date), 9, mtime=date)


def zipped(files, date):
    raw = io.BytesIO()
    with zipfile.ZipFile(raw, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, content, mode in files:
            entry = zipfile.ZipInfo(name, time.gmtime(date)[:6])
            entry.external_attr = (0o100000 | mode) << 16
            entry.create_system = 3
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, content)
    return raw.getvalue()


def npm_platform(target):
    processor, _, system = target.split("-")[:3]
    return SYSTEMS[system], PROCESSORS[processor][0]


def one_of_each_platform(programs):
    """The targets to pack: the first of those for the same platform, because the static program runs on every Linux."""
    found = {}
    for target in programs:
        found.setdefault(npm_platform(target), target)
    return found.values()


def wheels(package, programs, licences, date):
    """The wheels by file name: the program as a script, and the Python package."""
    return dict(wheel(package, target, programs[target], licences, date) for target in one_of_each_platform(programs))


def wheel(package, target, program, licences, date):
    project = tomllib.loads((HERE / "python/pyproject.toml").read_text())["project"]
    content = program.read_bytes()
    # The newest version of glibc whose functions the program calls.
    glibc = max((int(it) for it in re.findall(rb"GLIBC_2\.(\d+)", content)), default=17)
    platform = WHEELS[target].replace("GLIBC", str(glibc))
    stem = f"bookctl-{package['version']}"
    metadata = [
        "Metadata-Version: 2.4",
        "Name: bookctl",
        f"Version: {package['version']}",
        f"Summary: {package['description']}",
        f"License-Expression: {package['license']}",
        *(f"License-File: {name}" for name in licences),
        *(f"Classifier: {it}" for it in project["classifiers"]),
        *([f"Project-URL: Source, {package['repository']}"] if "repository" in package else []),
        f"Requires-Python: {project['requires-python']}",
        "Description-Content-Type: text/markdown",
        "",
        (HERE / "python/README.md").read_text(),
    ]
    points = "".join(
        f"[{group}]\n" + "".join(f"{name} = {value}\n" for name, value in entries.items())
        for group, entries in project["entry-points"].items()
    )
    tags = "".join(f"Tag: py3-none-{it}\n" for it in platform.split("."))
    source = HERE / "python/src"
    files = [(str(path.relative_to(source)), path.read_bytes(), 0o644) for path in sorted(source.glob("bookctl/*")) if path.is_file()]
    files += [
        (f"{stem}.data/scripts/{program.name}", content, 0o755),
        *((f"{stem}.dist-info/licenses/{name}", text, 0o644) for name, text in licences.items()),
        (f"{stem}.dist-info/METADATA", "\n".join(metadata).encode(), 0o644),
        (f"{stem}.dist-info/WHEEL", f"Wheel-Version: 1.0\nGenerator: packaging/release\nRoot-Is-Purelib: false\n{tags}".encode(), 0o644),
        (f"{stem}.dist-info/entry_points.txt", points.encode(), 0o644),
    ]
    record = f"{stem}.dist-info/RECORD"
    lines = []
    for name, content, _ in files:
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        lines.append(f"{name},sha256={digest},{len(content)}\n")
    files.append((record, "".join([*lines, f"{record},,\n"]).encode(), 0o644))
    return f"{stem}-py3-none-{platform}.whl", zipped(files, date)


def npm(package, programs, licences, date, base_url):
    """The packages of npm by file name: one for each platform, and the one that depends on them."""
    common = {"version": package["version"], "description": package["description"], "license": package["license"]}
    if "repository" in package:
        common["repository"] = package["repository"]
    texts = [(f"package/{name}", text, 0o644) for name, text in licences.items()]
    made, needed = {}, {}
    for target in one_of_each_platform(programs):
        (system, processor), program = npm_platform(target), programs[target]
        name, file = f"@bookctl/{system}-{processor}", f"bookctl-{system}-{processor}-{package['version']}.tgz"
        manifest = {"name": name, **common, "os": [system], "cpu": [processor], "preferUnplugged": True}
        made[file] = zipped_tar([json_file(manifest), (f"package/{program.name}", program.read_bytes(), 0o755), *texts], date)
        # Until the names are ours on the registry, nothing is fetched by name.
        needed[name] = f"{base_url}/{file}" if base_url and "repository" not in package else package["version"]
    manifest = json.loads((HERE / "npm/package.json").read_text())
    manifest |= common | {"optionalDependencies": needed}
    files = [json_file(manifest)]
    for name in ["README.md", "bin/bookctl.js", "index.d.ts", "index.js"]:
        files.append((f"package/{name}", (HERE / "npm" / name).read_bytes(), 0o755 if name.startswith("bin/") else 0o644))
    made[f"bookctl-{package['version']}.tgz"] = zipped_tar([*files, *texts[:2]], date)
    return made


def json_file(manifest):
    return "package/package.json", (json.dumps(manifest, indent=2) + "\n").encode(), 0o644


def last_stage():
    """The instructions of the last stage of the Dockerfile."""
    text = (HERE / "Dockerfile").read_text().replace("\\\n", " ")
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    begin = max(number for number, line in enumerate(lines) if line.startswith("FROM "))
    return dict(line.split(" ", 1) for line in lines[begin:])


def pairs(text):
    return dict(word.split("=", 1) for word in shlex.split(text))


def images(package, programs, licences, certificates, date, commit):
    """The container images by file name, for each static program: OCI archives, which `docker load` takes too."""
    static = {target: program for target, program in programs.items() if target.endswith("-linux-musl")}
    made = {}
    for target, program in static.items():
        processor = PROCESSORS[target.split("-")[0]][1]
        made[f"bookctl-{package['version']}-oci-{processor}.tar"] = image(package, program, processor, licences, certificates, date, commit)
    return made


def image(package, program, processor, licences, certificates, date, commit):
    stage = last_stage()
    user = stage["USER"].split(":")[0]
    home = pairs(stage["ENV"])["BOOKCTL_HOME"].lstrip("/") + "/"
    files = [
        ("bin/", b"", 0o755),
        ("bin/bookctl", program.read_bytes(), 0o755),
        ("etc/", b"", 0o755),
        ("etc/group", f"bookctl:x:{user}:\n".encode(), 0o644),
        ("etc/passwd", f"bookctl:x:{user}:{user}::/{home.rstrip('/')}:/sbin/nologin\n".encode(), 0o644),
        ("etc/ssl/", b"", 0o755),
        ("etc/ssl/certs/", b"", 0o755),
        ("etc/ssl/certs/ca-certificates.crt", certificates.read_bytes(), 0o644),
        ("home/", b"", 0o755),
        (home, b"", 0o700),
        ("licenses/", b"", 0o755),
        *((f"licenses/{name}", text, 0o644) for name, text in licences.items()),
        ("tmp/", b"", 0o1777),
    ]
    layer = tar(files, date, {home: int(user)})
    health = re.fullmatch(r"--interval=(\d+)s --timeout=(\d+)s CMD (.*)", stage["HEALTHCHECK"])
    created = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(date))
    version = {"org.opencontainers.image.version": package["version"], "org.opencontainers.image.revision": commit}
    labels = pairs(stage["LABEL"]) | version
    if "repository" in package:
        labels["org.opencontainers.image.source"] = package["repository"]
    config = {
        "created": created,
        "architecture": processor,
        "os": "linux",
        "config": {
            "User": stage["USER"],
            "ExposedPorts": {f"{stage['EXPOSE']}/tcp": {}},
            "Env": [f"{name}={value}" for name, value in pairs(stage["ENV"]).items()],
            "Entrypoint": json.loads(stage["ENTRYPOINT"]),
            "Cmd": json.loads(stage["CMD"]),
            "Labels": labels,
            "Healthcheck": {
                "Test": ["CMD", *json.loads(health[3])],
                "Interval": int(health[1]) * 10**9,
                "Timeout": int(health[2]) * 10**9,
            },
        },
        "rootfs": {"type": "layers", "diff_ids": [f"sha256:{hashlib.sha256(layer).hexdigest()}"]},
        "history": [{"created": created, "created_by": "packaging/release"}],
    }
    blobs = {}

    def blob(kind, content):
        digest = hashlib.sha256(content).hexdigest()
        blobs[f"blobs/sha256/{digest}"] = content
        return {"mediaType": f"application/vnd.oci.image.{kind}", "digest": f"sha256:{digest}", "size": len(content)}

    packed = blob("layer.v1.tar+gzip", gzip.compress(layer, 9, mtime=date))
    settings = blob("config.v1+json", json.dumps(config).encode())
    manifest = {"schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json", "config": settings, "layers": [packed]}
    described = blob("manifest.v1+json", json.dumps(manifest).encode())
    tag = f"bookctl:{package['version']}"
    described["annotations"] = {"io.containerd.image.name": f"docker.io/library/{tag}", "org.opencontainers.image.ref.name": tag}
    path = {it["digest"]: f"blobs/{it['digest'].replace(':', '/')}" for it in [packed, settings]}
    older = [{"Config": path[settings["digest"]], "RepoTags": [tag], "Layers": [path[packed["digest"]]]}]
    entries = {
        "oci-layout": json.dumps({"imageLayoutVersion": "1.0.0"}).encode(),
        "index.json": json.dumps({"schemaVersion": 2, "manifests": [described]}).encode(),
        # What `docker load` reads before version 25.
        "manifest.json": json.dumps(older).encode(),
        **dict(sorted(blobs.items())),
    }
    return tar([(name, content, 0o644) for name, content in entries.items()], date)
