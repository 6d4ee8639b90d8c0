// Validates a catalog at any commit of the base branch, outside the evaluation of a pull request.
import type { TreeSha } from '../pull-request/ids.ts'
import { validateCatalogWithAllRules } from '../checks/validation/validate-fully.ts'
import { findConfiguredRuleSet } from '../checks/validation/validation.ts'
import type { Config } from '../config/config.ts'
import type { Finding } from '@catalog-bot/findings/finding'
import type { GitRepository } from '../ports/repository.ts'
import type { CatalogLoader } from './catalog-loader.ts'

export interface CatalogErrorContext {
  readonly repository: GitRepository
  readonly loader: CatalogLoader
  readonly config: Config
}

/** `root`: the catalog's directory. Returns none if the catalog does not exist. Rejects with a GitError. */
export async function findCatalogErrors(
  tree: TreeSha,
  root: string,
  { repository, loader, config }: CatalogErrorContext,
): Promise<readonly Finding[]> {
  const catalog = await loader.load(repository, tree, root)
  if (catalog === undefined) return []
  const ruleSet = findConfiguredRuleSet(config)
  const { findings } = validateCatalogWithAllRules(catalog, {
    ...(ruleSet && { ruleSet }),
    settings: config.rules,
    root,
    registries: config.images.registries,
  })
  return findings.filter(({ severity }) => severity === 'error')
}
