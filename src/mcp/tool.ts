import type { CallToolResult } from '@modelcontextprotocol/server'
import type { JsonObject } from '../document/jsonSchema.ts'

export const mcpPath = '/mcp'

export interface ToolCall {
  readonly name: string
  readonly arguments: JsonObject
  /** Member `_meta` of the call. It can contain a payment, so it is never logged. */
  readonly meta: JsonObject
}

/** Creates a result with one JSON value. Hosts show its text to the model, and programs read the structured content. */
export function jsonResult(content: JsonObject, isError: boolean, meta?: JsonObject): CallToolResult {
  const text = JSON.stringify(content)
  return {
    isError,
    content: [{ type: 'text', text }],
    structuredContent: { ...content },
    ...(meta === undefined ? {} : { _meta: { ...meta } }),
  }
}
