import type { Clock } from '@tollbook/core/clock'

/** Table `work.leases` in memory. */
export interface LeaseState {
  readonly leases: Map<string, LeaseRow>
  readonly clock: Clock
  readonly grantsTwice: () => boolean
}

interface LeaseStatement {
  readonly values: readonly unknown[]
}

export interface LeaseRow {
  readonly epoch: number
  readonly takenAtMs: number
  readonly lengthMs: number
}

export function takeLease({ leases, clock, grantsTwice }: LeaseState, { values }: LeaseStatement): readonly object[] {
  const [name, , lengthMs] = values
  const nowMs = clock.nowMs()
  const known = leases.get(String(name))
  const isFree = known === undefined || known.takenAtMs > nowMs || known.takenAtMs + known.lengthMs <= nowMs
  if (!isFree && !grantsTwice()) return [{ epoch: null }]
  const epoch = (known?.epoch ?? 0) + 1
  leases.set(String(name), { epoch, takenAtMs: nowMs, lengthMs: Number(lengthMs) })
  return [{ epoch }]
}

export function renewLease({ leases, clock }: LeaseState, { values }: LeaseStatement): readonly object[] {
  const [name, epoch] = values
  const known = leases.get(String(name))
  const renewed = known !== undefined && known.epoch === Number(epoch) && known.lengthMs > 0
  if (renewed) leases.set(String(name), { ...known, takenAtMs: clock.nowMs() })
  return [{ renewed }]
}

export function endLease({ leases }: LeaseState, { values }: LeaseStatement): readonly object[] {
  const [name, epoch] = values
  const known = leases.get(String(name))
  if (known?.epoch === Number(epoch)) leases.set(String(name), { ...known, lengthMs: 0 })
  return []
}
