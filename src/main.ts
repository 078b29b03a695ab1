import '@tollbook/core/quietBindings'
import { reportFailure } from './cli/reportFailure.ts'
import { serveCommand } from './cli/serve.ts'

// `npm start`, the same as `tollbook serve`.
try {
  await serveCommand().parseAsync()
} catch (error) {
  reportFailure(error)
}
