import { readdirSync, readFileSync } from 'node:fs'

/** Bytes of this process and all that it started, each shared page counted once (PSS). Linux only. */
export function memoryOfUsAndOurs(): number {
  const parents = new Map<number, number>()
  for (const name of readdirSync('/proc')) {
    const parent = /^\d+$/.test(name) ? parentOf(name) : undefined
    if (parent !== undefined) parents.set(Number(name), parent)
  }
  const isOurs = (pid: number): boolean => {
    for (let current: number | undefined = pid; current !== undefined; current = parents.get(current))
      if (current === process.pid) return true
    return false
  }
  return [...parents.keys()].filter(isOurs).reduce((sum, pid) => sum + pssOf(pid), 0)
}

function parentOf(pid: string): number | undefined {
  return Number(/^\d+ \(.*\) \S (\d+)/.exec(read(`/proc/${pid}/stat`))?.[1] ?? Number.NaN) || undefined
}

function pssOf(pid: number): number {
  return Number(/^Pss:\s+(\d+) kB/m.exec(read(`/proc/${pid}/smaps_rollup`))?.[1] ?? 0) * 1024
}

/** A process that has gone meanwhile has nothing to say. */
function read(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}
