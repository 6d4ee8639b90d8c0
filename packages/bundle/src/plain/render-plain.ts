// Converts a bundle of any format to the objects of its installation, without a cluster or templates. Pure.
import type { Finding } from '@catalog-bot/findings/finding'
import { createFinding } from '@catalog-bot/findings/rule'
import { convertParsedValueToJson, createBundleFieldLocator } from '../manifest-document.ts'
import { type BundleFiles, findHelmChartDirectory, detectBundleFormat } from '../bundle-files.ts'
import { getStringAtPath } from '../fields.ts'
import { rejectedByOlmV1Rule } from '../rules/reported-rules.ts'
import { readBundleManifestObjects } from './bundle-object.ts'
import { parseRegistryV1Bundle } from './registry-v1.ts'
import { findClusterExtensionRejections, renderRegistryV1Objects } from './render-registry.ts'
import type {
  JsonObject,
  RenderedObject,
  PlainManifestRenderResult,
  PlainManifestRenderOptions,
  RenderRejection,
} from './rendering.ts'

/**
 * Renders registry+v1 by OLM v1's algorithm (operator-controller v1.11) and plain+v0 unchanged. For helm+v3, returns
 * only the CRDs and reports the rest in `open`. Never throws, regardless of the files.
 */
export function renderPlainManifests(
  files: BundleFiles,
  options: PlainManifestRenderOptions,
): PlainManifestRenderResult {
  const format = detectBundleFormat(files)
  if (format === undefined) return { objects: [], rejections: [], findings: [], open: [] }
  const rendered =
    format === 'registry+v1'
      ? renderRegistryV1Bundle(files, options)
      : format === 'plain+v0'
        ? renderPlainV0Bundle(files)
        : renderHelmChartBundle(files)
  return {
    format,
    open: [],
    ...rendered,
    findings: createRenderRejectionFindings(files, rendered.rejections),
  }
}

type BundleFormatRenderResult = Pick<PlainManifestRenderResult, 'objects' | 'rejections'> &
  Partial<Pick<PlainManifestRenderResult, 'open'>>

function renderRegistryV1Bundle(
  files: BundleFiles,
  options: PlainManifestRenderOptions,
): BundleFormatRenderResult {
  const loaded = parseRegistryV1Bundle(files)
  if (!loaded.bundle) return { objects: [], rejections: loaded.rejections }
  const extensionRejections = findClusterExtensionRejections(loaded.bundle, options)
  const { objects, rejections } = renderRegistryV1Objects(loaded.bundle, options)
  const all = [...extensionRejections, ...rejections]
  return { objects: all.length > 0 ? [] : objects, rejections: all }
}

/** RukPak wraps each object in a separate chart. The result of template braces is unknown without Helm. */
function renderPlainV0Bundle(files: BundleFiles): BundleFormatRenderResult {
  const { objects, unreadable } = readBundleManifestObjects(files)
  const rejections: readonly RenderRejection[] = unreadable.map(({ file, reason }) => ({
    message: `${file}: ${reason}`,
    at: { file, path: [] },
    reportedByRule: 'undecodable-manifest',
  }))
  if (rejections.length > 0) return { objects: [], rejections }
  const plain = objects.map(({ file, apiVersion, kind, name, tree }): RenderedObject => {
    const data = { ...(convertParsedValueToJson(tree) as JsonObject), apiVersion, kind }
    const namespace = getStringAtPath(data, 'metadata', 'namespace')
    return { file, apiVersion, kind, name, ...(namespace !== '' && { namespace }), manifest: data }
  })
  const braces = [...new Set(plain.filter(hasTemplateBraces).map(({ file }) => file))]
  return {
    objects: plain,
    rejections,
    open: braces.map(
      (file) =>
        `${file} contains "{{", which Helm evaluates as a template. catalog-bot does not run Helm, so the result is unknown.`,
    ),
  }
}

function hasTemplateBraces({ manifest }: RenderedObject): boolean {
  return JSON.stringify(manifest).includes('{{')
}

/** In a chart, only the CRDs aren't templates. */
function renderHelmChartBundle(files: BundleFiles): BundleFormatRenderResult {
  const root = findHelmChartDirectory(files) ?? ''
  const crds = new Map(
    [...files].flatMap(([path, bytes]): [string, Uint8Array][] => {
      const below = `${root}crds/`
      return path.startsWith(below) && !path.slice(below.length).includes('/')
        ? [[`manifests/${path.slice(below.length)}`, bytes]]
        : []
    }),
  )
  const { objects, unreadable } = readBundleManifestObjects(crds)
  const toChartPath = (file: string) => file.replace('manifests/', `${root}crds/`)
  const templates = [...files.keys()].filter((path) => path.startsWith(`${root}templates/`)).length
  return {
    objects: objects.map(({ file, apiVersion, kind, name, tree }) => ({
      ...{ file: toChartPath(file), apiVersion, kind, name },
      manifest: convertParsedValueToJson(tree) as JsonObject,
    })),
    rejections: unreadable.map(({ file, reason }) => ({
      message: `${toChartPath(file)}: ${reason}`,
      at: { file: toChartPath(file), path: [] },
    })),
    open:
      templates === 0
        ? []
        : [
            `catalog-bot does not run Helm, so it cannot determine which objects the chart's ${templates} templates create.`,
          ],
  }
}

function createRenderRejectionFindings(
  files: BundleFiles,
  rejections: readonly RenderRejection[],
): readonly Finding[] {
  const locate = createBundleFieldLocator(files)
  return rejections
    .filter(({ reportedByRule, isAboutOptions }) => reportedByRule === undefined && isAboutOptions !== true)
    .map(({ message, at: location }) =>
      createFinding(rejectedByOlmV1Rule, location && locate(location.file, location.path), {
        reason: message,
      }),
    )
}
