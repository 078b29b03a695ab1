import chromium from '@sparticuz/chromium'

// A separate process, started by `npmChromium.ts`: the package reads the environment when it is
// imported, changes it, and unpacks into the directory of TMPDIR. It prints the path of the program.

// The package gives each file the owner that its archive names, if it runs as root. The root of a user namespace may not.
Object.defineProperty(process, 'getuid', { value: undefined })
process.stdout.write(await chromium.executablePath())
