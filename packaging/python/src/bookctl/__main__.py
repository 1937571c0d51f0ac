import subprocess
import sys

from ._program import program

sys.exit(subprocess.run([program(), *sys.argv[1:]]).returncode)
