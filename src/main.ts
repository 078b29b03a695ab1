import { serve } from './cli/serve.ts'
import { Fault } from './primitives/fault.ts'

// `npm start`. The same as `tollbook serve`.
try {
  process.exitCode = await serve()
} catch (error) {
  // What an operator can mend is said in words; a stack is for what only we can mend.
  process.stderr.write(
    error instanceof Fault ? `${error.message}\n` : `${String(error instanceof Error ? error.stack : error)}\n`,
  )
  process.exitCode = 1
}
