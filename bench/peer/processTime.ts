import { readFile, readdir } from 'node:fs/promises'
import { assertPresent } from '@tollbook/core/assert'

/** Linux counts in ticks of 10 ms. */
const tickMs = 10

/** Processor time of a process and of all its threads, without its children. */
export async function processMs(pid: number): Promise<number> {
  const { userTicks, systemTicks } = await readStat(pid)
  return (userTicks + systemTicks) * tickMs
}

/** Processor time of Postgres as a whole: the parent of a backend, its children, and those that have ended. */
export async function postgresMs(backendPid: number): Promise<number> {
  const { parent } = await readStat(backendPid)
  const own = await readStat(parent)
  const names = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  const all = await Promise.all(names.map((name) => readStat(Number(name)).catch(() => undefined)))
  const children = all.flatMap((stat) => (stat?.parent === parent ? [stat.userTicks + stat.systemTicks] : []))
  const ticks = [own.userTicks, own.systemTicks, own.endedChildrenTicks, ...children]
  return ticks.reduce((sum, each) => sum + each, 0) * tickMs
}

interface ProcessStat {
  readonly parent: number
  readonly userTicks: number
  readonly systemTicks: number
  readonly endedChildrenTicks: number
}

/** proc(5). The name of the process, in brackets, may contain spaces, so fields are counted after it. */
async function readStat(pid: number): Promise<ProcessStat> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8')
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  const field = (index: number): number => Number(assertPresent(fields[index], 'stat has 52 fields'))
  return {
    parent: field(1),
    userTicks: field(11),
    systemTicks: field(12),
    endedChildrenTicks: field(13) + field(14),
  }
}
