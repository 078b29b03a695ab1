import { freePort } from '../../test/support/freePort.ts'
import { type AttackReport, readReport, type Target } from './attack.ts'
import { startAttacker, startChild } from './child.ts'
import type { StrangerProcesses } from './processorUse.ts'

/**
 * Measures something while the attackers attack a decoy instead of the service: what remains then is the machine's own
 * loss. The decoy refuses without parsing, so every server loses more.
 */
export async function attackDecoy<Measured>(
  target: Target,
  measure: (strangers: StrangerProcesses) => Promise<Measured>,
): Promise<{ readonly measured: Measured; readonly report: AttackReport }> {
  const port = await freePort()
  const decoy = startChild('decoyProcess.ts', String(port))
  const attacker = startAttacker({ ...target, port })
  const measured = await measure({ attackersPid: attacker.pid, decoyPid: decoy.pid })
  const [report] = await attacker.stop()
  await decoy.stop()
  return { measured, report: readReport(report) }
}
