import chromium from '@sparticuz/chromium'

// A separate process, started by `npmChromium.ts`, because the package reads and changes the environment on import. It
// unpacks into the directory of TMPDIR. This process prints the path of the program.

// Hide the user id: as root, the package gives each file the owner in its archive, which root of a user namespace may
// not do.
Object.defineProperty(process, 'getuid', { value: undefined })
process.stdout.write(await chromium.executablePath())
