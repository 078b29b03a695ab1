import { spawnSync } from 'node:child_process'
import { proofCommand } from './proofCommand.ts'
import { concludeProof } from './verdict.ts'

/* All combinations of `test/rails/matrix`, of which `npm test` runs the core. */

proofCommand('matrix', 'Operator change × state of a payment × rail × client, all combinations.').parse()

const { status } = spawnSync('vitest', ['run', 'test/rails/matrix'], {
  stdio: 'inherit',
  env: { ...process.env, MATRIX: 'all' },
})
concludeProof({ holds: status === 0, lines: [] })
