import pg from 'pg'
import { assertPresent } from '@tollbook/core/assert'
import { postgresMs, processMs } from '../peer/processTime.ts'

/** Processor seconds of each part of a siege, all of which share one machine. */
export interface ProcessorUse {
  readonly server: number
  readonly postgres: number
  readonly chain: number
  /** Their wallets sign in the process of the bench. */
  readonly payers: number
  readonly attackers: number
  /** The server that is attacked instead of ours. */
  readonly decoy: number
}

export interface ProcessorMeter extends AsyncDisposable {
  /** Total until now. */
  read(strangers?: StrangerProcesses): Promise<ProcessorUse>
}

export interface StrangerProcesses {
  readonly attackersPid: number | undefined
  readonly decoyPid?: number | undefined
}

export interface MeteredProcesses {
  readonly adminUrl: string
  readonly serverPid: number
  readonly chainPid: number
}

const msPerSecond = 1_000

export async function openProcessorMeter({ adminUrl, serverPid, chainPid }: MeteredProcesses): Promise<ProcessorMeter> {
  const admin = new pg.Client({ connectionString: adminUrl })
  await admin.connect()
  const { rows } = await admin.query<{ pid: number }>('select pg_backend_pid() as pid')
  const { pid: backendPid } = assertPresent(rows[0], 'a session has a process')
  // A process that has died is reported as such by the siege.
  const secondsOf = async (pid: number | undefined) =>
    pid === undefined ? 0 : (await processMs(pid).catch(() => 0)) / msPerSecond
  return {
    async read({ attackersPid, decoyPid } = { attackersPid: undefined }) {
      return {
        server: await secondsOf(serverPid),
        postgres: (await postgresMs(backendPid)) / msPerSecond,
        chain: await secondsOf(chainPid),
        payers: await secondsOf(process.pid),
        attackers: await secondsOf(attackersPid),
        decoy: await secondsOf(decoyPid),
      }
    },
    [Symbol.asyncDispose]: () => admin.end(),
  }
}

export function usedBetween(before: ProcessorUse, after: ProcessorUse): ProcessorUse {
  return {
    server: after.server - before.server,
    postgres: after.postgres - before.postgres,
    chain: after.chain - before.chain,
    payers: after.payers - before.payers,
    attackers: after.attackers - before.attackers,
    decoy: after.decoy - before.decoy,
  }
}

export function describeUse(use: ProcessorUse, seconds: number): string {
  const share = (name: keyof ProcessorUse) => `${name} ${(use[name] / seconds).toFixed(2)}`
  return [share('server'), share('postgres'), share('chain'), share('payers'), share('attackers'), share('decoy')].join(
    ', ',
  )
}
