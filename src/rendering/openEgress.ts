import { guardPage } from './guardPage.ts'
import { guardArguments } from './browserArguments.ts'
import { type EgressLimits, openEgressProxy } from './egressProxy.ts'
import { type EgressRules, webRules } from '../outbound/egressRules.ts'
import type { Egress } from './renderJob.ts'

export interface EgressOptions {
  readonly allowHosts: readonly string[]
  readonly denyHosts?: readonly string[] | undefined
  /** For tests: what names resolve to, and which ports are allowed. */
  readonly rules?: Partial<EgressRules>
  readonly limits?: EgressLimits
}

/** The guard: a browser that reaches nothing by itself, and for each job a proxy that judges every target. */
export function openEgress({ allowHosts, denyHosts, rules = {}, limits }: EgressOptions): Egress {
  const all = { ...webRules(allowHosts, denyHosts), ...rules }
  return { allowHosts, browserArguments: guardArguments, open: () => openEgressProxy(all, limits), guardPage }
}
