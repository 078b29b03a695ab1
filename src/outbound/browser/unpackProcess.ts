import chromium from '@sparticuz/chromium'

// A separate process, started by `npmChromium.ts`: the package reads the environment when it is
// imported, changes it, and unpacks into the directory of TMPDIR. It prints the path of the program.
process.stdout.write(await chromium.executablePath())
