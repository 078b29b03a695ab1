import { z } from 'zod'

/** The service, and the client addresses of the attackers. */
export interface Target {
  readonly port: number
  readonly wallet: string
  /** Loopback addresses, used in turn. */
  readonly addresses: readonly string[]
  /** Scheduling priority of the process (nice). Real attackers do not run on the server's processors. */
  readonly nice: number
  /** Paid requests a second that the service can serve. */
  readonly capacityPerSecond: number
}

/** Runs until the process ends. */
export interface Attack {
  readonly name: string
  /** Returns a reader of the counts so far: answers by status, closed connections and so on. */
  start(target: Target): () => Readonly<Record<string, number>>
}

/** Counts by name. */
export function createTally() {
  const counts: Record<string, number> = {}
  return {
    add: (name: string) => void (counts[name] = (counts[name] ?? 0) + 1),
    read: (): Readonly<Record<string, number>> => ({ ...counts }),
  }
}

/** Counts of each attack, by name. */
export type AttackReport = Readonly<Record<string, Readonly<Record<string, number>>>>

const reportShape = z.record(z.string(), z.record(z.string(), z.int()))

/** Reads what a process of attackers writes at its end. */
export function readReport(line = '{}'): AttackReport {
  return reportShape.parse(JSON.parse(line))
}

/** `due`: requests that the attack was to send; the others are answers by status and what became of connections. */
export function describeLoad(report: AttackReport): string {
  return Object.entries(report)
    .map(([name, counts]) => {
      const answers = Object.entries(counts).filter(([count]) => /^\d{3}$/.test(count))
      const achieved = answers.reduce((sum, [, count]) => sum + count, 0)
      const offered = counts['due'] ?? counts['opened'] ?? 0
      const rest = Object.entries(counts).map(([count, value]) => `${count} ${value}`)
      return `${name}: ${offered} offered, ${achieved} answered (${rest.join(', ')})`
    })
    .join('; ')
}
