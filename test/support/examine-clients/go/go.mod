module pets

go 1.19
