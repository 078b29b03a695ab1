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
