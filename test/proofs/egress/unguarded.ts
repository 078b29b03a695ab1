import type { Egress } from '../../../src/outbound/browser/renderJob.ts'
import type { EgressEnvironment } from './environment.ts'

/** The same browser with the guard switched off: the effect of the attacks without protection. */
export function unguarded({ addresses, privateHost }: EgressEnvironment): Egress {
  // The browser resolves by itself, and there is no name server; rebinding ends at the private address.
  const rules = [...addresses].map(([name, all]) => {
    const address = name === 'rebind.test' ? privateHost : (all.at(-1) ?? '')
    return `MAP ${name} ${address.includes(':') ? `[${address}]` : address}`
  })
  return {
    browserArguments: ['--ignore-certificate-errors', `--host-resolver-rules=${rules.join(', ')}`],
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
