// Combines the facts of all files into one catalog.
import type { BlobLocation, Catalog, CatalogFileFacts } from './catalog.ts'
import type { Finding } from '@catalog-bot/findings/finding'
import { comparePathsInWalkOrder } from '../go/walk-order.ts'

/** `files` can be in any order. The result is in walk order. Sets the paths in locations and findings. */
export function assembleCatalog(
  files: Iterable<{ readonly path: string; readonly facts: CatalogFileFacts }>,
): Catalog {
  const walked = [...files].sort((a, b) => comparePathsInWalkOrder(a.path, b.path))
  const all = <Part>(part: (facts: CatalogFileFacts, path: string) => readonly Part[]): Part[] =>
    walked.flatMap(({ path, facts }) => part(facts, path))
  return {
    packages: all((facts, path) => facts.packages.map((blob) => addFilePathToBlob(blob, path))),
    channels: all((facts, path) => facts.channels.map((blob) => addFilePathToBlob(blob, path))),
    bundles: all((facts, path) => facts.bundles.map((blob) => addFilePathToBlob(blob, path))),
    deprecations: all((facts, path) => facts.deprecations.map((blob) => addFilePathToBlob(blob, path))),
    others: all((facts, path) => facts.others.map((blob) => addFilePathToBlob(blob, path))),
    findings: all((facts, path) => facts.findings.map((finding) => addFilePathToFinding(finding, path))),
    oddities: all((facts, path) => (facts.oddities ?? []).map((leniency) => ({ ...leniency, file: path }))),
    loadErrors: walked.flatMap(({ path, facts }) =>
      facts.loadError === undefined ? [] : [{ file: path, message: facts.loadError }],
    ),
    files: walked.map(({ path, facts }) => ({ path, bytes: facts.bytes })),
  }
}

function addFilePathToBlob<Blob extends { readonly place: BlobLocation }>(blob: Blob, file: string): Blob {
  return { ...blob, place: { ...blob.place, file } }
}

function addFilePathToFinding(finding: Finding, file: string): Finding {
  // A finding about the whole file must also contain its path.
  const at = { line: 1, column: 1, ...finding.at, file }
  if (!finding.related) return { ...finding, at }
  return { ...finding, at, related: finding.related.map((one) => ({ ...one, at: { ...one.at, file } })) }
}
