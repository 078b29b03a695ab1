import { guardPage } from './guardPage.ts'
import { guardArguments } from './browserArguments.ts'
import { type EgressLimits, openEgressProxy } from './egressProxy.ts'
import { type EgressRules, webRules } from '../outbound/egressRules.ts'
import type { Egress } from './renderJob.ts'

export interface EgressOptions {
  readonly allowHosts: readonly string[]
  readonly denyHosts?: readonly string[] | undefined
  /** Replaces name lookups and allowed ports in tests. */
  readonly rules?: Partial<EgressRules>
  readonly limits?: EgressLimits
}

/** Opens the network access of the browser. It has no access except one proxy per job, which checks every target. */
export function openEgress({ allowHosts, denyHosts, rules = {}, limits }: EgressOptions): Egress {
  const all = { ...webRules(allowHosts, denyHosts), ...rules }
  return { allowHosts, browserArguments: guardArguments, open: () => openEgressProxy(all, limits), guardPage }
}
