// Package report writes what a reconciliation found for people and for other programs: one self-contained HTML page, CSV, a workbook (XLSX),
// JSON, and text for a terminal.
//
// What holds for all of them:
//
//   - The verdict comes first and is in words. A run that lacks a list says so before anything else.
//   - The same [Data] gives the same bytes, in every format.
//   - Times name their zone. Where a day hangs on a moment, it is shown in UTC and in the business zone.
//   - Ids, tickets and logins are text: 64 bits do not survive a spreadsheet or a JSON reader.
//   - Text from outside (comments, ids, references) cannot act: it is escaped, control and direction characters are spelled out as \u202E,
//     and what a spreadsheet could take for a formula begins with an apostrophe in CSV.
//   - Memory does not grow with the number of items, but for the compressed bytes of the workbook.
//
// The schema of the JSON is schema.json in this folder, see [Schema].
package report
