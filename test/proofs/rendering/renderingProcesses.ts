import { readdirSync, readFileSync } from 'node:fs'

/** The rendering worker, the browser and its pages: processes that the service has started, by what they run. */
export function renderingProcesses(): readonly number[] {
  const found = readdirSync('/proc').filter((name) => /^\d+$/.test(name) && /renderWorker|chrom/.test(commandOf(name)))
  return found.map(Number).filter(descendsFromUs)
}

/** Rendering workers that run: one for strangers, and one for customers once there are any. */
export function workerCount(): number {
  return renderingProcesses().filter((pid) => commandOf(String(pid)).includes('renderWorker')).length
}

function descendsFromUs(pid: number): boolean {
  for (let current = parentOf(pid), depth = 0; current > 1 && depth < 10; current = parentOf(current), depth++)
    if (current === process.pid) return true
  return false
}

/** Processes of the list that still run. */
export function stillRunning(pids: readonly number[]): readonly number[] {
  return pids.filter((pid) => commandOf(String(pid)) !== '')
}

/** Megabytes, each shared page counted once. */
export function memoryOf(pids: readonly number[]): number {
  const kilobytes = pids.map((pid) => Number(/^Pss:\s+(\d+) kB/m.exec(read(`/proc/${pid}/smaps_rollup`))?.[1] ?? 0))
  return kilobytes.reduce((sum, some) => sum + some, 0) / 1000
}

function parentOf(pid: number): number {
  return Number(/^\d+ \(.*\) \S (\d+)/.exec(read(`/proc/${pid}/stat`))?.[1] ?? 0)
}

/** Empty for a process that has ended. */
function commandOf(pid: string): string {
  return read(`/proc/${pid}/cmdline`)
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}
