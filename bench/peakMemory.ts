import { writeSync } from 'node:fs'

/*
 * Imported before a program, this tells on a pipe how much memory the process had at the most, in kB: nothing outside
 * of the process can ask for it once it has ended.
 */
const peakMemoryFd = 3

process.on('exit', () => writeSync(peakMemoryFd, String(process.resourceUsage().maxRSS)))
