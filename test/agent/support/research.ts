import type { Client } from '@modelcontextprotocol/client'
import { dynamicTool, generateText, isStepCount, jsonSchema, type LanguageModel } from 'ai'
import { z } from 'zod'

/** The loop of docs/agents.md: the tools of `tollbook mcp` in a stock agent loop. */
export async function research(host: Client, model: LanguageModel, prompt: string) {
  const { tools } = await host.listTools()
  const paid = tools.map(({ name, description = '', inputSchema }) => {
    const execute = async (given: unknown) => {
      const { content } = await host.callTool({ name, arguments: z.record(z.string(), z.unknown()).parse(given) })
      return content
    }
    return [name, dynamicTool({ description, inputSchema: jsonSchema(inputSchema), execute })] as const
  })
  return generateText({ model, prompt, tools: Object.fromEntries(paid), stopWhen: isStepCount(12) })
}
