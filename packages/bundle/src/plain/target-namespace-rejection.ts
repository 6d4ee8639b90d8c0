// Whether an Operator's install modes allow it to watch the requested namespaces.
import type { CsvRenderFields } from './csv-view.ts'
import type { RenderRejection } from './rendering.ts'

/** OLM v1's message, or undefined if allowed. An empty list means no requested namespaces and no default. */
export function findTargetNamespaceRejection(
  { modes, file }: CsvRenderFields,
  installNamespace: string,
  targets: readonly string[],
): RenderRejection | undefined {
  const problem = findInstallModeProblem(new Set(modes), modes.join(' '), installNamespace, targets)
  if (problem === undefined) return undefined
  return {
    message: `invalid option(s): invalid target namespaces [${targets.join(' ')}]: ${problem}`,
    at: { file, path: ['spec', 'installModes'] },
    isAboutOptions: true,
  }
}

function findInstallModeProblem(
  modes: ReadonlySet<string>,
  supported: string,
  installNamespace: string,
  targets: readonly string[],
): string | undefined {
  const set = new Set(targets)
  const cannotWatchOwn = `supported install modes [${supported}] do not support targeting own namespace`
  if (set.size === 0)
    return `${modes.has('MultiNamespace') ? 'at least' : 'exactly'} one target namespace must be specified`
  if (set.size === 1 && set.has(''))
    return modes.has('AllNamespaces')
      ? undefined
      : `supported install modes [${supported}] do not support targeting all namespaces`
  if (set.size === 1) {
    if (set.has(installNamespace)) return modes.has('OwnNamespace') ? undefined : cannotWatchOwn
    if (modes.has('SingleNamespace')) return undefined
  } else {
    if (!modes.has('OwnNamespace') && set.has(installNamespace)) return cannotWatchOwn
    if (modes.has('MultiNamespace') && !set.has('')) return undefined
  }
  return `supported install modes [${supported}] do not support target namespaces [${targets.join(' ')}]`
}
