// Refuses a place that is not cold: packages that a clone, or what it builds in a temporary directory, would find although
// `npm ci` did not put them there. A green run in such a place says nothing about a fresh machine.
// usage: node .ci/refuse-leftovers.cjs CHECKOUT TEMPORARY_DIRECTORY; exit 1 with a line for each leftover.
'use strict'
const fs = require('node:fs')
const { globalPaths } = require('node:module')
const path = require('node:path')

const places = process.argv.slice(2)
if (places.length === 0) {
  console.error('usage: node .ci/refuse-leftovers.cjs CHECKOUT TEMPORARY_DIRECTORY')
  process.exit(2)
}

/** @returns {string[]} `node_modules` of the directory itself and of every one above it, however the path leads there */
function nodeModulesAbove(place) {
  const folders = new Set()
  for (const start of [path.resolve(place), fs.realpathSync(place)])
    for (let folder = start; ; folder = path.dirname(folder)) {
      folders.add(path.join(folder, 'node_modules'))
      if (folder === path.dirname(folder)) break
    }
  return [...folders]
}

const problems = []
for (const place of places)
  for (const folder of nodeModulesAbove(place))
    if (fs.existsSync(folder)) problems.push(`${folder} would be found from ${place}`)
if (process.env.NODE_PATH) problems.push(`NODE_PATH is set, to ${process.env.NODE_PATH}`)
if (process.env.NODE_OPTIONS) problems.push(`NODE_OPTIONS is set, to ${process.env.NODE_OPTIONS}`)
// Where require() looks last: folders of the home directory and of the installation.
for (const folder of new Set(globalPaths))
  if (fs.existsSync(folder) && fs.readdirSync(folder).length > 0)
    problems.push(`global packages in ${folder} would be found from everywhere`)

for (const problem of new Set(problems)) console.error(`not a fresh place: ${problem}`)
if (problems.length > 0) process.exit(1)
