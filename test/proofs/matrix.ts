import { spawnSync } from 'node:child_process'
import { proofCommand } from './proofCommand.ts'
import { concludeProof } from './verdict.ts'

/* All combinations of `test/rails/matrix`, of which CI runs the core, and `npm test` a sample. */

proofCommand('matrix', 'Operator change × state of a payment × rail × client, all combinations.').parse()

const { status } = spawnSync('vitest', ['run', 'test/rails/matrix/matrix.process'], {
  stdio: 'inherit',
  env: { ...process.env, MATRIX: 'all' },
})
concludeProof({ holds: status === 0, lines: [] })
