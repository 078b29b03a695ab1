import type { ProviderConfig } from '../../config/providerConfig.ts'
import type { UpstreamDeps } from '../../outbound/upstream.ts'
import type { Endpoint } from '../../product/endpoint.ts'
import { chatCompletions } from '../../products/chat/chatCompletions.ts'
import { type ChatDeps, modelsOf } from '../../products/chat/chatTurn.ts'
import { openAiError } from '../../products/chat/openAiForm.ts'
import { createChatServer } from '../../products/chat/server/chatServer.ts'
import { createModelRoutes } from '../../routes/modelRoutes.ts'
import type { FreeRoute } from '../../transport/freeRoute.ts'
import type { Providers } from './openProviders.ts'

/**
 * Opens the servers of the chat. A streamed reply must end before the time limit of the handler, after which it counts
 * as broken.
 */
export function openChat(config: ProviderConfig, { data, aiServers }: Providers, caller: UpstreamDeps): ChatDeps {
  const { handlerTimeoutMs, aiOutputTokensMax: outputTokensMax, aiModelPrices: modelPrices } = config
  const streamMsMax = Math.floor(handlerTimeoutMs * 0.9)
  // Longest pause within a streamed reply, which is 5 s with the default time limit. After a longer pause, the model
  // counts as stopped.
  const silentMsMax = Math.floor(handlerTimeoutMs / 6)
  // Divide the time between the servers, so that a failure of the last server is still reported in time.
  const timeoutMs = Math.floor(streamMsMax / Math.max(1, aiServers.length))
  const chatServers = aiServers.map((server, index) =>
    createChatServer(caller, { ...server, label: `ai-${index + 1}`, timeoutMs, silentMsMax }),
  )
  return { ...data, chatServers, chatLimits: { outputTokensMax, modelPrices, streamMsMax, silentMsMax } }
}

interface ChatSources {
  readonly provided: ChatDeps
  readonly sampled: ChatDeps | undefined
}

/** Returns the routes of the model list, which OpenAI's clients read. Empty if the chat in OpenAI's format is not sold. */
export function modelRoutesOf(
  endpoints: readonly Endpoint[],
  { provided, sampled = provided }: ChatSources,
): readonly FreeRoute[] {
  const chat = endpoints.find(({ path }) => path === chatCompletions.path)
  if (chat === undefined) return []
  const models = () => modelsOf(chat.suppliedBy() === 'samples' ? sampled : provided)
  return createModelRoutes({ models, errorForm: openAiError })
}
