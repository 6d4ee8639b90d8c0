// A bundle's name, version, channels and what it replaces, each with its place.
import type { Location } from '../findings/finding.ts'
import { annotationKeys, readMetadata } from './bundle-metadata.ts'
import type { BundleFiles } from './bundle-files.ts'
import { bundlePlaces, type BundlePlaces, type Path } from './bundle-places.ts'
import { dataOf } from './manifest-document.ts'
import { valueAt, type Value } from '../go/tree.ts'
import { listOf, textOf } from './fields.ts'
import { readCsvFast } from './read-csv-fast.ts'
import { isCsv, manifestObjects } from './registry-bundle.ts'

/** A text and its place in the bundle's files. */
export interface Said {
  readonly text: string
  readonly at: Location
}

export interface BundleFacts {
  /** From the ClusterServiceVersion; absent or empty without one. */
  readonly name?: Said
  readonly version?: Said
  readonly replaces?: Said
  readonly skips: readonly Said[]
  readonly skipRange?: Said
  /** From the annotations file. */
  readonly package?: Said
  readonly channels: readonly Said[]
  readonly defaultChannel?: Said
}

/**
 * Never throws: omits what can't be read, which `validateBundle` reports. Without places, everything points to the
 * start of its file; finding places costs as much as reading the file.
 */
export function bundleFacts(
  files: BundleFiles,
  { places = true }: { readonly places?: boolean } = {},
): BundleFacts {
  const placeOf: BundlePlaces = places ? bundlePlaces(files) : (file) => ({ file, line: 1, column: 1 })
  const csv = places ? manifestObjects(files).find(isCsv) : readCsvFast(files)
  const inTree = (...path: readonly string[]) =>
    dataOf(path.reduce<Value | undefined>((value, key) => valueAt(value, key), csv?.tree))
  const inCsv = (...path: Path): Said | undefined => {
    if (!csv) return undefined
    const text = textOf(inTree(...path.map(String)))
    return text === '' ? undefined : { text, at: placeOf(csv.file, path) }
  }
  const skips = listOf(inTree('spec', 'skips')).flatMap((entry, index): Said[] =>
    csv && textOf(entry) !== ''
      ? [{ text: textOf(entry), at: placeOf(csv.file, ['spec', 'skips', index]) }]
      : [],
  )
  const { annotations, annotationsFile } = readMetadata(files)
  const annotated = (key: string): Said | undefined => {
    const text = annotations?.[key]?.trim() ?? ''
    return text === '' ? undefined : { text, at: placeOf(annotationsFile, ['annotations', key]) }
  }
  const channels = annotated(annotationKeys.channels)
  return {
    ...some('name', inCsv('metadata', 'name')),
    ...some('version', inCsv('spec', 'version')),
    ...some('replaces', inCsv('spec', 'replaces')),
    skips,
    ...some('skipRange', inCsv('metadata', 'annotations', 'olm.skipRange')),
    ...some('package', annotated(annotationKeys.package)),
    channels:
      channels?.text
        .split(',')
        .map((channel) => channel.trim())
        .filter((channel) => channel !== '')
        .map((text) => ({ text, at: channels.at })) ?? [],
    ...some('defaultChannel', annotated(annotationKeys.defaultChannel)),
  }
}

function some<Key extends string>(key: Key, said: Said | undefined): { readonly [K in Key]?: Said } {
  return said ? ({ [key]: said } as { readonly [K in Key]: Said }) : {}
}
