import chromium from '@sparticuz/chromium'

// A process of its own, started by `npmChromium.ts`: the package reads the environment when it is imported, changes it,
// and unpacks wherever TMPDIR points. It prints the path of the program.
process.stdout.write(await chromium.executablePath())
