// A bundle's name, version, channels, and upgrade edges, each with its location.
import type { Location } from '@catalog-bot/findings/finding'
import { getMapValue, type ParsedValue } from '@catalog-bot/fbc/go/tree'
import { bundleAnnotationKeys, parseBundleMetadata } from './bundle-metadata.ts'
import { type BundleFiles, findFilesInDirectory } from './bundle-files.ts'
import {
  convertParsedValueToJson,
  readManifest,
  createBundleFieldLocator,
  type BundleFieldLocator,
  type FieldPath,
} from './manifest-document.ts'
import { asListOrEmpty, asStringOrEmpty } from './fields.ts'
import { isCsv, readManifestObjects, parseApiVersionAndKind } from './registry-bundle.ts'

/** A string and its location in the bundle's files. */
export interface LocatedString {
  readonly text: string
  readonly at: Location
}

export interface BundleUpgradeMetadata {
  /** From the ClusterServiceVersion; absent or empty without one. */
  readonly name?: LocatedString
  readonly version?: LocatedString
  readonly replaces?: LocatedString
  readonly skips: readonly LocatedString[]
  readonly skipRange?: LocatedString
  /** From the annotations file. */
  readonly package?: LocatedString
  readonly channels: readonly LocatedString[]
  readonly defaultChannel?: LocatedString
}

/**
 * Never throws. Omits unreadable values, which `validateBundle` reports. Without exact locations, every value points to
 * the start of its file, because finding a location costs as much as reading the file.
 */
export function readBundleUpgradeMetadata(
  files: BundleFiles,
  { places = true }: { readonly places?: boolean } = {},
): BundleUpgradeMetadata {
  const locate: BundleFieldLocator = places
    ? createBundleFieldLocator(files)
    : (file) => ({ file, line: 1, column: 1 })
  const csv = places ? readManifestObjects(files).find(isCsv) : findFirstCsvManifest(files)
  const getCsvField = (...path: readonly string[]) =>
    convertParsedValueToJson(
      path.reduce<ParsedValue | undefined>((value, key) => getMapValue(value, key), csv?.tree),
    )
  const findCsvText = (...path: FieldPath): LocatedString | undefined => {
    if (!csv) return undefined
    const text = asStringOrEmpty(getCsvField(...path.map(String)))
    return text === '' ? undefined : { text, at: locate(csv.file, path) }
  }
  const skips = asListOrEmpty(getCsvField('spec', 'skips')).flatMap((entry, index) =>
    csv && asStringOrEmpty(entry) !== ''
      ? [{ text: asStringOrEmpty(entry), at: locate(csv.file, ['spec', 'skips', index]) }]
      : [],
  )
  const { annotations, annotationsFile } = parseBundleMetadata(files)
  const findAnnotation = (key: string): LocatedString | undefined => {
    const text = annotations?.[key]?.trim() ?? ''
    return text === '' ? undefined : { text, at: locate(annotationsFile, ['annotations', key]) }
  }
  const channels = findAnnotation(bundleAnnotationKeys.channels)
  return {
    ...createFieldIfDefined('name', findCsvText('metadata', 'name')),
    ...createFieldIfDefined('version', findCsvText('spec', 'version')),
    ...createFieldIfDefined('replaces', findCsvText('spec', 'replaces')),
    skips,
    ...createFieldIfDefined('skipRange', findCsvText('metadata', 'annotations', 'olm.skipRange')),
    ...createFieldIfDefined('package', findAnnotation(bundleAnnotationKeys.package)),
    channels:
      channels?.text
        .split(',')
        .map((channel) => channel.trim())
        .filter((channel) => channel !== '')
        .map((text) => ({ text, at: channels.at })) ?? [],
    ...createFieldIfDefined('defaultChannel', findAnnotation(bundleAnnotationKeys.defaultChannel)),
  }
}

function createFieldIfDefined<Key extends string>(key: Key, located: LocatedString | undefined) {
  return located ? ({ [key]: located } as { readonly [K in Key]: LocatedString }) : {}
}

/** The first ClusterServiceVersion, as in `readManifestObjects`. Offsets in its tree are meaningless. */
function findFirstCsvManifest(
  files: BundleFiles,
): { readonly file: string; readonly tree: ParsedValue } | undefined {
  for (const [file, bytes] of findFilesInDirectory(files, 'manifests')) {
    const tree = parseManifestYaml(bytes)
    const type = tree && parseApiVersionAndKind(tree)
    if (tree && type && isCsv(type)) return { file, tree }
  }
  return undefined
}

function parseManifestYaml(bytes: Uint8Array): ParsedValue | undefined {
  const document = readManifest(bytes)
  return document.kind === 'value' ? document.value : undefined
}
