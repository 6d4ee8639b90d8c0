// Detects packages that Node.js would find from the checkout or the temporary directory although `npm ci` did not install
// them. With such packages, a successful run doesn't prove that a fresh machine works.
// Usage: node .ci/refuse-leftovers.cjs CHECKOUT TEMPORARY_DIRECTORY. Prints a line for each leftover and exits with 1.
'use strict'
const fs = require('node:fs')
const { globalPaths } = require('node:module')
const path = require('node:path')

const directories = process.argv.slice(2)
if (directories.length === 0) {
  console.error('usage: node .ci/refuse-leftovers.cjs CHECKOUT TEMPORARY_DIRECTORY')
  process.exit(2)
}

/** @returns {string[]} `node_modules` paths of the directory and its parents, with and without resolving symbolic links */
function nodeModulesAbove(directory) {
  const folders = new Set()
  for (const start of [path.resolve(directory), fs.realpathSync(directory)])
    for (let folder = start; ; folder = path.dirname(folder)) {
      folders.add(path.join(folder, 'node_modules'))
      if (folder === path.dirname(folder)) break
    }
  return [...folders]
}

const problems = []
for (const directory of directories)
  for (const folder of nodeModulesAbove(directory))
    if (fs.existsSync(folder)) problems.push(`${folder} would be found from ${directory}`)
if (process.env.NODE_PATH) problems.push(`NODE_PATH is set, to ${process.env.NODE_PATH}`)
if (process.env.NODE_OPTIONS) problems.push(`NODE_OPTIONS is set, to ${process.env.NODE_OPTIONS}`)
// The last places that require() searches: folders in the home directory and in the Node.js installation.
for (const folder of new Set(globalPaths))
  if (fs.existsSync(folder) && fs.readdirSync(folder).length > 0)
    problems.push(`global packages in ${folder} would be found from everywhere`)

for (const problem of new Set(problems)) console.error(`not a fresh place: ${problem}`)
if (problems.length > 0) process.exit(1)
