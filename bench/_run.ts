import { claims } from './claims.ts'
import { describeYardstick } from './yardstick.ts'
for (const y of await claims.run({ rounds: Number(process.argv[2] ?? 3), roundSeconds: Number(process.argv[3] ?? 2), requests: 0, progress: console.log })) console.log(describeYardstick(y))
