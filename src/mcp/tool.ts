import type { CallToolResult } from '@modelcontextprotocol/server'
import type { JsonObject } from '../document/jsonSchema.ts'

export const mcpPath = '/mcp'

/** One call of a tool. */
export interface ToolCall {
  readonly name: string
  readonly arguments: JsonObject
  /** `_meta`. It can carry a payment, so it is never logged. */
  readonly meta: JsonObject
}

/** Result of one JSON value. Hosts show the text to the model; programs read the structured content. */
export function jsonResult(content: JsonObject, isError: boolean, meta?: JsonObject): CallToolResult {
  const text = JSON.stringify(content)
  return {
    isError,
    content: [{ type: 'text', text }],
    structuredContent: { ...content },
    ...(meta === undefined ? {} : { _meta: { ...meta } }),
  }
}
