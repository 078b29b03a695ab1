import type { NodeBehaviour } from '@tollbook/localnet/localChain'

export interface NodeFault {
  readonly name: string
  readonly behaviour: NodeBehaviour
  /** One node that lies consistently cannot be caught, so this service alone meets the lie. */
  readonly onlyWith?: '2 nodes' | '2 nodes, both asked'
}

/** 60 slots of 40 ms are 2.4 s: longer than a lookup waits, shorter than a blockhash lives. */
const lagSlots = 60

/** `template`: a payment that is on chain, for the node that makes up records. */
export function nodeFaults(template: string): readonly NodeFault[] {
  return [
    { name: 'lag', behaviour: { lag: lagSlots } },
    { name: 'freeze', behaviour: { freeze: true } },
    { name: 'fork', behaviour: { fork: true } },
    { name: 'null', behaviour: { nullAnswers: true } },
    { name: 'wrong record', behaviour: { amounts: 50, forge: template } },
    { name: 'invented failure', behaviour: { failRecords: true }, onlyWith: '2 nodes' },
    { name: 'consistent lie', behaviour: { failRecords: true, claimSends: true }, onlyWith: '2 nodes, both asked' },
    { name: 'other genesis', behaviour: { otherGenesis: true } },
    { name: '5xx', behaviour: { fail: 'unavailable' } },
    { name: 'timeout', behaviour: { fail: 'hang' } },
    { name: '429', behaviour: { fail: 'tooManyRequests' } },
  ]
}
