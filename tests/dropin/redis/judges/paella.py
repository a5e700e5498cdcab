"""What RedisBloom's tests ask of the module of this name: the platform. Only to name it."""


class Platform:
    osnick, os, arch = "bookworm", "linux", "x64"
