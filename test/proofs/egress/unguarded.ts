import type { Egress } from '../../../src/rendering/renderJob.ts'
import type { EgressEnvironment } from './environment.ts'

/** The same browser with the guard switched off: the effect of the attacks without protection. */
export function unguarded({ addresses, isSystemNameServer }: EgressEnvironment): Egress {
  // The browser asks the name server of the machine. If that is not the attacker's, its arguments have the answers.
  const rules = [...addresses].flatMap(([kind, address]) => {
    const target = address.includes(':') ? `[${address}]` : address
    return [`MAP ${kind}.test ${target}`, `MAP *.${kind}.test ${target}`]
  })
  return {
    browserArguments: [
      '--ignore-certificate-errors',
      ...(isSystemNameServer ? [] : [`--host-resolver-rules=${rules.join(', ')}`]),
    ],
    allowHosts: [],
    guardPage: () => Promise.resolve(),
    open: () =>
      Promise.resolve({
        proxyServer: '',
        troubleWith: () => undefined,
        refusedCount: () => 0,
        isOverdrawn: () => false,
        finish: () => undefined,
        isFinished: () => false,
        bytesMoved: () => 0,
        close: () => Promise.resolve(),
      }),
  }
}
