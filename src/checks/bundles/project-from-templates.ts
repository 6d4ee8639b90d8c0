// Computes the future catalogs of a package with templates from its release configurations.
import type { Catalog } from '@catalog-bot/fbc/facts/catalog'
import { amendTemplate, type BundleReleaseInput } from '@catalog-bot/fbc/template/amend-template'
import type { RenderedBundleLookup, RenderedBundle } from '@catalog-bot/fbc/template/bundle-source'
import { renderTemplate, getTemplateImages } from '@catalog-bot/fbc/template/render-template'
import { parseTemplateDocument } from '@catalog-bot/fbc/template/template-document'
import { findAlreadyRenderedBundles } from '../validation/templates/reusable-bundles.ts'
import {
  computeProjectedCatalogChanges,
  type ProjectedCatalog,
  type BundleImageNameFormatter,
} from './projected-catalog.ts'
import { parseCiYaml } from './validate-package-settings.ts'
import type { PackageSources } from './package-sources.ts'
import { releaseConfigSchema, type PackageCiYaml } from './package-settings.ts'
import { parsePackageSettings } from './settings-file.ts'

export interface LoadedTemplate {
  /** Absent for a new template. */
  readonly bytes?: Uint8Array
  readonly isTooLarge?: true
  /** The package's base catalogs that this template renders. */
  readonly known: readonly Catalog[]
}

type TemplateCatalogMapping = NonNullable<PackageCiYaml['fbc']>['catalog_mapping'][number]

/** The templates referenced by touched releases, with their catalogs. */
export function listTemplatesToRelease(sources: PackageSources): readonly TemplateCatalogMapping[] {
  const { fbc } = parseCiYaml(sources) ?? {}
  if (fbc?.enabled !== true) return []
  const named = new Set(listTemplateReleases(sources).map(({ template }) => template))
  return fbc.catalog_mapping.filter(({ template_name: name }) => named.has(name))
}

/** One result per template. Applies all releases in the change that reference it, in order. */
export function projectCatalogsFromTemplates(
  sources: PackageSources,
  read: ReadonlyMap<string, LoadedTemplate>,
  imageOf: BundleImageNameFormatter,
): readonly ProjectedCatalog[] {
  return listTemplatesToRelease(sources).flatMap((mapping) => {
    const template = read.get(mapping.template_name)
    return template ? projectCatalogsFromTemplate(sources, mapping, template, imageOf) : []
  })
}

interface TemplateBundleRelease extends Omit<BundleReleaseInput, 'package' | 'image'> {
  readonly template: string
  readonly bundle: RenderedBundle
  readonly version: string
  readonly at: ProjectedCatalog['at']
}

function listTemplateReleases(sources: PackageSources): readonly TemplateBundleRelease[] {
  return [...sources.touched, ...(sources.configured ?? [])].flatMap(({ root, version, rendered }) => {
    const config = sources.releaseConfigs.find(({ path }) => path.startsWith(`${root}/`))
    const name = rendered?.blob.name
    if (!config || !rendered || name === undefined) return []
    const { value, locationOf } = parsePackageSettings(config, releaseConfigSchema)
    return (value?.catalog_templates ?? []).map((entry, index): TemplateBundleRelease => {
      const path = ['catalog_templates', index]
      const edge = (['replaces', 'skipRange', 'skips'] as const).find((key) => entry[key] !== undefined)
      return {
        template: entry.template_name,
        name,
        version,
        bundle: rendered,
        channels: entry.channels,
        replaces: entry.replaces,
        skips: entry.skips,
        skipRange: entry.skipRange,
        at: {
          whole: locationOf([...path, 'template_name']),
          ...(edge !== undefined && { edges: locationOf([...path, edge]) }),
        },
      }
    })
  })
}

function projectCatalogsFromTemplate(
  sources: PackageSources,
  { template_name: template, type, catalog_names: catalogs }: TemplateCatalogMapping,
  { bytes, isTooLarge, known }: LoadedTemplate,
  imageOf: BundleImageNameFormatter,
): readonly ProjectedCatalog[] {
  const { directory } = sources
  const releases = listTemplateReleases(sources).filter((release) => release.template === template)
  const [first] = releases
  if (!first) return []
  const common = { directory, kind: 'template' as const, catalogs, at: first.at, changes: [], images: [] }
  const unknown = (why: string) => [
    { ...common, unknown: `the rendered output of the template ${template} (${why})` },
  ]
  if (isTooLarge === true) return unknown('the template is too large')
  const bundles = new Map<string, RenderedBundle>(
    findAlreadyRenderedBundles(bytes ? parseTemplateSchemaName(bytes) : '', { known }),
  )
  const names = new Set([...bundles.values()].map(({ blob }) => blob.name))
  // Skips bundles that the catalogs already contain.
  const added = releases.filter(({ name }) => !names.has(name))
  if (added.length === 0) return []
  const source: RenderedBundleLookup = (reference) => {
    const bundle = bundles.get(reference)
    return bundle
      ? { ok: true, value: [bundle] }
      : { ok: false, error: `the catalogs do not contain ${reference} yet` }
  }
  const base = bytes && getTemplateImages(bytes)
  if (base && !base.ok) return unknown(base.error)
  const hadBundles = bytes !== undefined && base?.ok === true && base.value.length > 0
  const rendered = hadBundles ? renderTemplate(bytes, source) : undefined
  if (rendered && !rendered.ok) return unknown(rendered.error)
  let amended = bytes
  for (const release of added) {
    const image = imageOf(directory, release.version)
    const its = release.bundle.blob
    bundles.set(image, {
      ...release.bundle,
      blob: { ...its, image, relatedImages: [...(its.relatedImages ?? []), { name: '', image }] },
    })
    // The package name can differ from the directory name.
    const next = amendTemplate(amended, type, { ...release, package: its.package ?? directory, image })
    if (!next.ok) return unknown(next.error)
    amended = next.value
  }
  const result = amended && renderTemplate(amended, source)
  if (!result) return []
  if (!result.ok) return unknown(result.error)
  return [
    {
      ...common,
      at: added[0]?.at ?? first.at,
      changes: computeProjectedCatalogChanges(catalogs, rendered?.value, result.value),
      images: added.map(({ name, version }) => ({ name, image: imageOf(directory, version) })),
    },
  ]
}

function parseTemplateSchemaName(bytes: Uint8Array): string {
  const read = parseTemplateDocument(bytes)
  return read.ok ? read.value.schema : ''
}
