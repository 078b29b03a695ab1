import { z } from 'zod'

const record = z.record(z.string(), z.unknown())

export const toolResult = z.looseObject({
  content: z.array(z.looseObject({ type: z.string(), text: z.string().optional() })),
  structuredContent: record.default({}),
  isError: z.boolean().default(false),
  _meta: record.default({}),
})

export type CalledTool = z.infer<typeof toolResult>
