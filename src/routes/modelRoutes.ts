import { jsonAnswer } from '../paywall/answer.ts'
import type { ErrorForm } from '../product/productFacts.ts'
import type { FreeRoute } from '../transport/freeRoute.ts'
import { errorAnswer } from '../transport/transportError.ts'

export interface ModelRouteDeps {
  /** Returns the models for sale, the default model first. */
  readonly models: () => readonly string[]
  readonly errorForm: ErrorForm
}

/**
 * Creates the routes of the model list, in the wire format of OpenAI, because its clients read the list before the
 * first chat.
 */
export function createModelRoutes({ models, errorForm }: ModelRouteDeps): readonly FreeRoute[] {
  const answer = (body: object) => Promise.resolve(jsonAnswer(200, JSON.stringify(body)))
  return [
    { path: '/v1/models', errorForm, serve: () => answer({ object: 'list', data: models().map(modelOf) }) },
    {
      // Use a wildcard, because model names can contain slashes.
      path: '/v1/models/*model',
      errorForm,
      serve({ segment }) {
        const found = models().find((model) => model === segment || encodeURIComponent(model) === segment)
        if (found !== undefined) return answer(modelOf(found))
        return Promise.resolve(
          errorAnswer('NOT_FOUND', 'this model is not sold here; GET /v1/models lists those that are'),
        )
      },
    },
  ]
}

/** Describes a model. Clients require `created`, which is 0 because the creation time of a model is unknown. */
function modelOf(id: string) {
  return { id, object: 'model', created: 0, owned_by: 'tollbook' }
}
