package sqlite

import (
	"encoding/binary"
	"fmt"
	"os"
	"testing"
)

// region is a range of bytes of a database with one meaning.
type region struct {
	kind     string // the table, the kind of page and what of it, such as "heads leaf: cell pointers"
	at, size int
}

// used returns the regions of a database that SQLite reads. Left out is what it never looks
// at: the room between the cells of a page, and the pages that only wait for new data.
func used(t testing.TB, path string) []region {
	t.Helper()
	data, err := os.ReadFile(path)
	check(t, err)
	db := raw(t, path)
	defer db.Close()

	regions := []region{{"file header", 0, 100}}
	var size, trunk int
	check(t, db.QueryRow("PRAGMA page_size").Scan(&size))
	for trunk = number(data[32:]); trunk > 0; trunk = number(data[(trunk-1)*size:]) {
		at := (trunk - 1) * size
		regions = append(regions, region{"free pages", at, 8 + 4*number(data[at+4:])})
	}

	rows, err := db.Query("SELECT name, pagetype, pageno FROM dbstat ORDER BY pageno")
	check(t, err)
	defer rows.Close()
	for rows.Next() {
		var table, kind string
		var page int
		check(t, rows.Scan(&table, &kind, &page))
		at := (page - 1) * size
		if kind == "overflow" {
			regions = append(regions, region{table + " overflow: next page", at, 4}, region{table + " overflow: data", at + 4, size - 4})
			continue
		}
		regions = append(regions, cells(fmt.Sprintf("%s %s: ", table, kind), data[at:at+size], at)...)
	}
	check(t, rows.Err())
	return regions
}

// cellHead is how many bytes of a cell are its sizes, its key, a pointer to another page
// and the types of its columns, at most.
const cellHead = 14

// cells returns the regions of a page of a tree.
func cells(kind string, page []byte, at int) []region {
	header, size := 0, 8
	if at == 0 {
		header = 100 // the file's
	}
	if page[header] == 2 || page[header] == 5 {
		size = 12 // has a last child
	}
	count := int(binary.BigEndian.Uint16(page[header+3:]))
	content := int(binary.BigEndian.Uint16(page[header+5:]))

	regions := []region{
		{kind + "page header", at + header, size},
		{kind + "cell pointers", at + header + size, 2 * count},
		{kind + "cells", at + content, len(page) - content},
	}
	for i := range count {
		cell := int(binary.BigEndian.Uint16(page[header+size+2*i:]))
		regions = append(regions, region{kind + "cell head", at + cell, min(cellHead, len(page)-cell)})
	}
	return regions
}

func number(data []byte) int { return int(binary.BigEndian.Uint32(data)) }
