import './primitives/quietBindings.ts'
import { reportFailure } from './cli/reportFailure.ts'
import { serve } from './cli/serve.ts'

// `npm start`, the same as `tollbook serve`.
try {
  process.exitCode = await serve()
} catch (error) {
  reportFailure(error)
}
