// Finds which catalogs are rendered from which templates, according to the configuration or an unambiguous layout.
// Ignores ambiguous pairs.
import { compareCodeUnits } from '@catalog-bot/findings/finding'
import { isMap, isSeq, parseDocument } from 'yaml'
import type { Catalog } from '@catalog-bot/fbc/facts/catalog'
import { pathPlaceholderPattern, type TemplateConfig } from '../../config/catalog-sources.ts'
import { findDuplicateYamlKey } from '../../config/text-problems.ts'
import { createPathListFilter, hasPathInDirectory, findPathsInDirectory } from '../incremental-path-list.ts'
import { isPathUnderDirectory, type RepositoryLayout } from './layout.ts'

const templateFolderNames = new Set(['catalog-templates', 'catalog-template', 'veneer', 'templates'])

const templateFilePattern = /\.(?:ya?ml|json)$/

export interface TemplateCatalogPair {
  readonly template: string
  /** The directory (or file) that is rendered from it. */
  readonly catalog: string
  readonly isStated: boolean
  /** The suggestion if the template and the catalog differ. */
  readonly offer: TemplateConfig['offer']
}

/** Whether the name of a catalog path is that of a file. Otherwise, it is a directory. */
export function hasTemplateFileExtension(catalog: string): boolean {
  return templateFilePattern.test(catalog)
}

export interface LoadedTemplateCatalogPair extends TemplateCatalogPair {
  /**
   * The template in the result. Absent if it does not exist, `too-large` if it exceeds the size limit, and `too-many`
   * if earlier templates in the same change exhaust the limit. In that case, nothing is known about its catalog.
   */
  readonly source?: Uint8Array | 'too-large' | 'too-many'
  /** The catalog in the result. Absent if its path does not exist. File paths are relative to the repository root. */
  readonly result?: Catalog
  /** Catalogs of the base with previously rendered bundles, starting with this pair's catalog. */
  readonly known: readonly Catalog[]
  /** The bytes of the catalog's only file before and after, if catalog-bot can suggest a patch for it. */
  readonly file?: { readonly path: string; readonly base: Uint8Array; readonly result: Uint8Array }
}

export interface TemplateCatalogPairInputs {
  /** Every path of the base and every path of the result, sorted. */
  readonly trees: readonly (readonly string[])[]
  readonly layout: RepositoryLayout
  readonly stated: readonly TemplateConfig[]
  /** The text of `operators/<directory>/ci.yaml` at the base, if it exists. */
  readonly ciYaml: (directory: string) => string | undefined
}

/** Sorted by template and catalog. */
export function findTouchedTemplateCatalogPairs(
  inputs: TemplateCatalogPairInputs,
  touched: readonly string[],
): readonly TemplateCatalogPair[] {
  const stated = findConfiguredTemplateCatalogPairs(inputs)
  // The configuration overrides the layout.
  const configuredPaths = new Set(stated.flatMap(({ template, catalog }) => [template, catalog]))
  const recognised = dropAmbiguousTemplateCatalogPairs([...findTemplateCatalogPairsByLayout(inputs)]).filter(
    ({ template, catalog }) => !configuredPaths.has(template) && !configuredPaths.has(catalog),
  )
  const isTouched = ({ template, catalog }: TemplateCatalogPair) =>
    touched.some((path) => path === template || path === catalog || isPathUnderDirectory(path, catalog))
  return [
    ...stated.filter(isTouched),
    ...recognised
      .filter(isTouched)
      .filter(({ catalog }) => inputs.trees.some((paths) => hasPathInDirectory(paths, catalog))),
  ].sort((a, b) => compareCodeUnits(a.template, b.template) || compareCodeUnits(a.catalog, b.catalog))
}

function findConfiguredTemplateCatalogPairs({
  trees,
  stated,
}: TemplateCatalogPairInputs): readonly TemplateCatalogPair[] {
  return stated.flatMap(({ template, catalog, offer }) => {
    if (template.replace(pathPlaceholderPattern, '') === template)
      return [{ template, catalog, isStated: true, offer }]
    const pattern = toTemplatePathRegExp(template)
    const above = template.slice(0, Math.max(0, template.lastIndexOf('/', template.indexOf('{'))))
    return combineUniquePaths(trees.map((paths) => findPathsInDirectory(paths, above))).flatMap((path) => {
      const groups = pattern.exec(path)?.groups
      if (!groups) return []
      const rendered = catalog.replace(pathPlaceholderPattern, (_match, name: string) => groups[name] ?? '')
      return [{ template: path, catalog: rendered, isStated: true, offer }]
    })
  })
}

function toTemplatePathRegExp(template: string): RegExp {
  const known = new Set<string>()
  let source = ''
  let end = 0
  for (const match of template.matchAll(pathPlaceholderPattern)) {
    const name = match[1] ?? ''
    source += escapeRegExp(template.slice(end, match.index))
    source += known.has(name) ? `\\k<${name}>` : `(?<${name}>[^/]+)`
    known.add(name)
    end = match.index + match[0].length
  }
  return new RegExp(`^${source}${escapeRegExp(template.slice(end))}$`)
}

function escapeRegExp(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
}

const operatorTemplatePathPattern = /^operators\/(?<directory>[^/]+)\/catalog-templates\/(?<file>[^/]+)$/
/** One template per package next to one catalog for all packages: `veneer/foo.yaml` and `catalog/foo/`. */
const templateFolderPathPattern = /^(?:catalog-templates?|veneer|templates)\/(?<name>[^/]+)\.(?:ya?ml|json)$/
/** One template next to one catalog: `v4.20/catalog-template.yaml` and `v4.20/catalog/`. */
const singleCatalogTemplatePathPattern =
  /^(?<above>(?:[^/]+\/)*)(?:catalog-template\.(?:ya?ml|json)|graph\.ya?ml)$/

const filterConventionalTemplatePaths = createPathListFilter<string>(
  (path) =>
    templateFilePattern.test(path) &&
    [operatorTemplatePathPattern, templateFolderPathPattern, singleCatalogTemplatePathPattern].some(
      (pattern) => pattern.test(path),
    ),
)

function combineUniquePaths(lists: readonly (readonly string[])[]): readonly string[] {
  return [...new Set(lists.flat())]
}

function* findTemplateCatalogPairsByLayout({
  trees,
  layout,
  ciYaml,
}: TemplateCatalogPairInputs): Generator<TemplateCatalogPair> {
  const roots = new Set(layout.catalogs.map(({ root }) => root))
  const pair = (template: string, catalog: string) =>
    ({ template, catalog, isStated: false, offer: 'none' }) as const
  const mappings = new Map<string, CatalogNamesByTemplate | undefined>()
  for (const path of combineUniquePaths(trees.map(filterConventionalTemplatePaths))) {
    const { directory, file = '' } = operatorTemplatePathPattern.exec(path)?.groups ?? {}
    if (directory !== undefined) {
      if (!mappings.has(directory)) mappings.set(directory, parseCiYamlCatalogMapping(ciYaml(directory)))
      const mapping = mappings.get(directory)
      // Without a mapping, a template serves the catalog of the same name.
      const names = mapping ? (mapping.get(file) ?? []) : [file.replace(templateFilePattern, '')]
      for (const name of names)
        if (roots.has(`catalogs/${name}`)) yield pair(path, `catalogs/${name}/${directory}`)
      continue
    }
    const name = templateFolderPathPattern.exec(path)?.groups?.name
    if (name !== undefined && roots.has('catalog')) yield pair(path, `catalog/${name}`)
    const above = singleCatalogTemplatePathPattern.exec(path)?.groups?.above
    if (above !== undefined && roots.has(`${above}catalog`)) yield pair(path, `${above}catalog`)
  }
}

/** Omits catalogs with several templates, because the purpose of those templates is unknown. */
function dropAmbiguousTemplateCatalogPairs(
  pairs: readonly TemplateCatalogPair[],
): readonly TemplateCatalogPair[] {
  const templates = new Map<string, number>()
  for (const { catalog } of pairs) templates.set(catalog, (templates.get(catalog) ?? 0) + 1)
  return pairs.filter(({ catalog }) => templates.get(catalog) === 1)
}

type CatalogNamesByTemplate = ReadonlyMap<string, readonly string[]>

/** Returns `fbc.catalog_mapping` of a ci.yaml, or undefined if it is missing or invalid. */
function parseCiYamlCatalogMapping(text: string | undefined): CatalogNamesByTemplate | undefined {
  if (text === undefined) return undefined
  const document = parseDocument(text, { schema: 'failsafe', uniqueKeys: false, prettyErrors: false })
  if (document.errors.length > 0 || findDuplicateYamlKey(document) !== undefined) return undefined
  const list: unknown = document.getIn(['fbc', 'catalog_mapping'], true)
  if (!isSeq(list)) return undefined
  const mapping = new Map<string, string[]>()
  for (const item of list.items) {
    if (!isMap(item)) continue
    const file: unknown = item.get('template_name')
    const names: unknown = item.get('catalog_names')
    if (typeof file !== 'string' || !isSeq(names)) continue
    const known = names.items.map(String).filter((name) => /^[\w.-]+$/.test(name))
    mapping.set(file, [...(mapping.get(file) ?? []), ...known])
  }
  return mapping
}

/**
 * Finds files that look like catalog templates, by the paths and names in public repositories (layouts L1 to L14).
 * The result is a hint for display and rendering. It never affects permissions.
 */
export function isTemplatePath(path: string): boolean {
  if (!/\.(?:ya?ml|json)$/.test(path)) return false
  const names = path.split('/')
  const name = names.at(-1) ?? ''
  if (names[0] === 'operators') return names.length === 4 && names[2] === 'catalog-templates'
  if (names.length === 2 && templateFolderNames.has(names[0] ?? '')) return true
  if (names.length <= 4 && /(?:^|[-_])templates?(?:[-_.]|$)/.test(name)) return true
  if (names.length === 1) return name === 'contributions.yaml' || name === 'catalogs.yaml'
  return name === 'graph.yaml' && /^v?\d+[.-]\d+$/.test(names.at(-2) ?? '')
}
