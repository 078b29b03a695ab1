import chromium from '@sparticuz/chromium'

// A separate process, because the package reads and changes the environment on import. The target is the directory of
// TMPDIR. This process prints the path of the program.

// As root, the package would give each file the owner that its archive records, which root of a user namespace may not
// do.
Object.defineProperty(process, 'getuid', { value: undefined })
process.stdout.write(await chromium.executablePath())
