// Limits how many registries and references one pull request can make us query.
import { parseImageReference } from '../go/reference/image-reference.ts'
import type { Registry } from '../ports/registry.ts'

export interface Budget {
  /** Distinct registries. Each may cost DNS, a handshake and a token service. */
  readonly hosts: number
  /** Distinct references. */
  readonly references: number
}

// The largest packages name about 30 registries' worth of images in a few thousand references.
const defaultBudget: Budget = { hosts: 50, references: 10_000 }

/** Answers `unknown` with a reason beyond the budget. */
export function withBudget(registry: Registry, budget: Budget = defaultBudget): Registry {
  const hosts = new Set<string>()
  const references = new Set<string>()
  const refuse = (what: string) =>
    ({ kind: 'unknown', reason: `the change names more than ${what}`, retryAfter: 3600 }) as const
  return {
    async resolve(text, signal) {
      const host = parseImageReference(text).reference?.host
      if (host !== undefined) {
        if (!references.has(text) && references.size >= budget.references)
          return refuse(`${budget.references} images`)
        if (!hosts.has(host) && hosts.size >= budget.hosts) return refuse(`${budget.hosts} registries`)
        references.add(text)
        hosts.add(host)
      }
      return registry.resolve(text, signal)
    },
    close: () => registry.close(),
  }
}
