import type { PresentedReference } from '../payment/paymentReference.ts'

/** Payments that this process serves now. Another process may serve the same payment. */
export class Serving {
  readonly #requests = new Map<PresentedReference, number>()

  has(reference: PresentedReference): boolean {
    return this.#requests.has(reference)
  }

  enter(reference: PresentedReference): Disposable {
    this.#requests.set(reference, (this.#requests.get(reference) ?? 0) + 1)
    return { [Symbol.dispose]: () => this.#leave(reference) }
  }

  #leave(reference: PresentedReference): void {
    const left = (this.#requests.get(reference) ?? 0) - 1
    if (left > 0) this.#requests.set(reference, left)
    else this.#requests.delete(reference)
  }
}
